package lang

import "testing"

func TestFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, src, want string }{
		{"arguments in one column, one space between words",
			"title   A   title\n  wait\nadvance\t1s\nclearfaults\n",
			"title  A title\n\nwait\nadvance 1s\nclearfaults\n"},
		{"blank lines between head, acts and proof",
			"title T\nseed 1\nwait\nexpect runs 0\nexpect calls 0\nadvance 1s\nexpect runs 0\n",
			"title  T\nseed   1\n\nwait\nexpect runs 0\nexpect calls 0\n\nadvance 1s\nexpect runs 0\n"},
		{"single blank lines of the author stay, others go",
			"\n\ntitle T\n\n\n\nwait\n\nwait\n\n\n",
			"title  T\n\nwait\n\nwait\n"},
		{"comments stay with what follows",
			"#first\ntitle T\n  # of the wait  \n#and more\nwait\n# last\n",
			"#first\ntitle  T\n\n# of the wait\n#and more\nwait\n# last\n"},
		{"quotes, JSON and questions",
			"title \"T\" is it\nask  How many?   *0|  1\nbecause  so\nlookup 'a b' step=\"s\"\nfault { \"a\" : 1 }\nescalate  asked   twice\n",
			"title  \"T\" is it\n\nask    How many?  *0 | 1\nbecause so\nlookup \"a b\" step=\"s\"\nfault  {\"a\":1}\nescalate asked twice\n"},
		{"line ends of the script only, a last line end for files",
			"\ufefftitle T\r\nsend GET /x p\r\nsend GET /x q\r\n--  p  --\r\na\r\n\r\n-- q --\r\nb",
			"title  T\n\nsend   GET /x p\nsend   GET /x q\n-- p --\na\r\n\r\n-- q --\nb\n"},
	} {
		got, err := Format([]byte(c.src))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if string(got) != c.want {
			t.Errorf("%s\nwrote\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	if _, err := Format([]byte("title T\nwiat\n")); err == nil || err.Error() != `unknown verb "wiat"; valid here: wait` {
		t.Errorf("a file that does not parse was formatted: %v", err)
	}
}
