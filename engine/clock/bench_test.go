package clock

import (
	"context"
	"testing"
	"time"
)

// One switch is one actor waiting and another one going on.
func BenchmarkSwitch(b *testing.B) {
	v := NewVirtual(epoch)
	defer v.Close()
	turns := make([]Event, b.N+1)
	for i := range turns {
		turns[i] = v.NewEvent("turn")
	}
	player := func(first int) func() {
		return func() {
			for i := first; i < b.N; i += 2 {
				turns[i].Wait()
				turns[i+1].Set()
			}
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	_ = v.Run(b.Context(), func() {
		v.Go("odd", player(1))
		v.Go("even", player(0))
		turns[0].Set()
	})
}

func BenchmarkSleep(b *testing.B) {
	v := NewVirtual(epoch)
	defer v.Close()
	b.ReportAllocs()
	_ = v.Run(b.Context(), func() {
		for range b.N {
			v.Advance(time.Second)
		}
	})
}

func BenchmarkSleepAmong1000(b *testing.B) {
	v := NewVirtual(epoch)
	defer v.Close()
	b.ReportAllocs()
	_ = v.Run(b.Context(), func() {
		for i := range 1000 {
			v.Go("sleeper", func() {
				for n := i; n < b.N; n += 1000 {
					v.Advance(time.Second)
				}
			})
		}
	})
}

func BenchmarkAfterFunc(b *testing.B) {
	v := NewVirtual(epoch)
	defer v.Close()
	b.ReportAllocs()
	left := b.N
	var again func()
	again = func() {
		if left--; left > 0 {
			v.AfterFunc(time.Second, again)
		}
	}
	_ = v.Run(b.Context(), again)
}

func BenchmarkGo(b *testing.B) {
	v := NewVirtual(epoch)
	defer v.Close()
	b.ReportAllocs()
	_ = v.Run(b.Context(), func() {
		for range b.N {
			over := v.NewEvent("over")
			v.Go("child", over.Set)
			over.Wait()
		}
	})
}

func BenchmarkTimeoutNotReached(b *testing.B) {
	v := NewVirtual(epoch)
	defer v.Close()
	b.ReportAllocs()
	_ = v.Run(b.Context(), func() {
		for range b.N {
			ctx, cancel := v.WithTimeout(context.Background(), time.Minute, errLate)
			v.OnCancel(ctx, func(error) {})
			cancel(nil)
		}
	})
}

func BenchmarkGateOpen(b *testing.B) {
	v := NewVirtual(epoch)
	defer v.Close()
	b.ReportAllocs()
	_ = v.Run(b.Context(), func() {
		for range b.N {
			v.Gate(AtSend, "order-42")
		}
	})
}

func BenchmarkGatePark(b *testing.B) {
	v := NewVirtual(epoch)
	defer v.Close()
	v.SetGate(func(Point, string) Verdict { v.Go("release", func() { v.Release(v.Parked()[0].ID) }); return Park })
	b.ReportAllocs()
	_ = v.Run(b.Context(), func() {
		for range b.N {
			v.Gate(AtSend, "order-42")
		}
	})
}

func BenchmarkHold(b *testing.B) {
	v := NewVirtual(epoch)
	defer v.Close()
	b.ReportAllocs()
	_ = v.Run(b.Context(), func() {
		for range b.N {
			v.Hold(func() {})
		}
	})
}

func BenchmarkNow(b *testing.B) {
	v := NewVirtual(epoch)
	for range b.N {
		_ = v.Now()
	}
}
