package ledgertest_test

import (
	"testing"

	"faultlab/faultprovider"
	"faultlab/faultprovider/ledgertest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	ledgertest.Run(t, func(*testing.T) ledgertest.Opener {
		m := &ledgertest.Memory{}
		return func(*testing.T) faultprovider.Ledger { return m }
	})
}
