package store

import "strings"

// notRun are the statements that would reach beyond one operation: each operation is
// a transaction of its own, on one file, on a connection that others use after it.
var notRun = map[string]string{
	"BEGIN": ownTransaction, "COMMIT": ownTransaction, "END": ownTransaction, "ROLLBACK": ownTransaction,
	"SAVEPOINT": ownTransaction, "RELEASE": ownTransaction,
	"ATTACH": "open the other file with a services.db of its own", "DETACH": "open the other file with a services.db of its own",
	"VACUUM": "run it with the sqlite3 program", "PRAGMA": "read one as SELECT * FROM pragma_table_info('orders')",
}

const ownTransaction = "each operation is a transaction of its own; make several one with transaction"

// oneStatement refuses SQL that is no single statement, or one that is not run here.
func oneStatement(text string) error {
	word, rest := firstStatement(text)
	switch {
	case word == "":
		return problem("INPUT_INVALID", "text, the SQL, has no statement")
	case notRun[word] != "":
		return problem("INPUT_INVALID", "%s is not run here: %s", word, notRun[word])
	case rest:
		return problem("INPUT_INVALID", "text, the SQL, holds more than one statement: run them with transaction")
	}
	return nil
}

// firstStatement gives the first word of some SQL, in capitals, and whether anything
// comes after its first statement. A trigger holds statements of its own.
func firstStatement(text string) (word string, rest bool) {
	trigger, words, ended := false, 0, false
	for i := 0; i < len(text); {
		n, kind := sqlToken(text[i:])
		token := text[i : i+n]
		i += n
		switch {
		case kind == sqlSpace:
		case kind == sqlEnd:
			ended = ended || word != "" && !trigger
		case ended:
			return word, true
		case kind == sqlWord:
			words++
			if upper := strings.ToUpper(token); word == "" {
				word = upper
			} else if word == "CREATE" && words <= 3 && upper == "TRIGGER" {
				trigger = true
			}
		case word == "":
			word = token
		}
	}
	return word, false
}

// bare is the one statement of some SQL, without the semicolon that may end it.
func bare(text string) string {
	text = strings.TrimLeft(text, "; \t\r\n")
	for i := 0; i < len(text); {
		n, kind := sqlToken(text[i:])
		if kind == sqlEnd {
			return text[:i]
		}
		i += n
	}
	return text
}

// names reports whether some SQL has a name in it, bare or in any quotes: SQLite takes
// text in single quotes for a name too, where only a name can stand.
func names(text, name string) bool {
	for i := 0; i < len(text); {
		n, _ := sqlToken(text[i:])
		if strings.EqualFold(strings.Trim(text[i:i+n], "'\"`[]"), name) {
			return true
		}
		i += n
	}
	return false
}

// Kinds of what SQL is made of, as far as statements are concerned.
const (
	sqlSpace = iota // white space and comments
	sqlEnd          // a semicolon
	sqlWord
	sqlOther // text in quotes, a number, a sign
)

// sqlToken gives the length and kind of what s begins with. What is not closed goes to the end.
func sqlToken(s string) (n, kind int) {
	upTo := func(closing string, from int) int {
		if i := strings.Index(s[from:], closing); i >= 0 {
			return from + i + len(closing)
		}
		return len(s)
	}
	switch c := s[0]; {
	case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
		return 1, sqlSpace
	case strings.HasPrefix(s, "--"):
		return upTo("\n", 2), sqlSpace
	case strings.HasPrefix(s, "/*"):
		return upTo("*/", 2), sqlSpace
	case c == ';':
		return 1, sqlEnd
	case c == '[':
		return upTo("]", 1), sqlOther
	case c == '\'' || c == '"' || c == '`':
		return upTo(string(c), 1), sqlOther // a doubled quote is two texts side by side
	case wordByte(c):
		for n < len(s) && wordByte(s[n]) {
			n++
		}
		return n, sqlWord
	}
	return 1, sqlOther
}

func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
