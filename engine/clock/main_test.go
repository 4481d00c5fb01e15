package clock

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	epoch   = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	errLate = errors.New("too late")
	errStop = errors.New("stopped")
)

// soon is a context that ends a test which would otherwise hang.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second, errors.New("the test hangs"))
	t.Cleanup(cancel)
	return ctx
}
