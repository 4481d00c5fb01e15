package historytest

import (
	"slices"
	"testing"

	"faultlab/engine"
)

func TestEveryKindIsDrawn(t *testing.T) {
	t.Parallel()
	var drawn []engine.Kind
	for _, f := range prototypes {
		drawn = append(drawn, f.Kind())
	}
	slices.Sort(drawn)
	if !slices.Equal(drawn, engine.Kinds()) {
		t.Errorf("kinds that are drawn: %v\nkinds that exist: %v", drawn, engine.Kinds())
	}
}
