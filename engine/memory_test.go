package engine_test

import (
	"testing"

	"faultlab/engine"
	"faultlab/engine/historytest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	historytest.Run(t, func(*testing.T) engine.History { return engine.NewMemory() })
}
