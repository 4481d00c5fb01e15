package store

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Children are what this test program does when it is started again as a process of its own.
var children = map[string]func(){}

func TestMain(m *testing.M) {
	if child := children[os.Getenv("STORE_TEST_CHILD")]; child != nil {
		child()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
