package lang_test

import (
	"fmt"

	"faultlab/scenarios/lang"
)

func ExampleParse() {
	_, err := lang.Parse("c.txtar", []byte("title C. Commit, then drop\nfault commit-then-drop\ntriger fulfill\nexpect verdikt unresolved\n"))
	fmt.Println(err)
	// Output:
	// c.txtar:3:1: unknown verb "triger"; valid here: trigger
	// c.txtar:4:8: unknown expectation "verdikt"; valid here: verdict
}

func ExampleFormat() {
	tidy, err := lang.Format([]byte("title  C. Commit,   then drop\nask Is it there?  no|*nobody knows\nfault   commit-then-drop\nwait\n"))
	fmt.Print(string(tidy), err)
	// Output:
	// title  C. Commit, then drop
	//
	// ask    Is it there?  no | *nobody knows
	// fault  commit-then-drop
	// wait
	// <nil>
}

func ExampleParseLine() {
	l, err := lang.ParseLine(`deliver pay payload.json id="evt 7" twice`)
	fmt.Println(l.Verb, l.Args, l.Opt("id"), l.Has("twice"), err)
	// Output: deliver [pay payload.json] evt 7 true <nil>
}

func ExampleComplete() {
	for _, c := range lang.Complete("crash after", nil) {
		fmt.Println(c.Line)
	}
	// Output:
	// crash after-effect
	// crash after-reply
	// crash after-record
}
