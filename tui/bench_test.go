package tui

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"faultlab/scenarios"
	"faultlab/scenarios/lang"
	"faultlab/tui/draw"
)

// realBench opens a scenario of the catalogue on a bench of package scenarios.
func realBench(t testing.TB, name string, o scenarios.Options) Bench {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := scenarios.Open(s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return Live(b)
}

// played is a bench whose script is over.
func played(t testing.TB, name string) Bench {
	t.Helper()
	b := realBench(t, name, scenarios.Options{})
	b.Play()
	rest(t, b)
	return b
}

func rest(t testing.TB, b Bench) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := b.(interface{ Wait(context.Context) error }).Wait(ctx); err != nil {
		t.Fatal(err)
	}
}

// long is a bench with a timeline of at least this many entries.
func long(t testing.TB, entries int) Bench {
	t.Helper()
	b := played(t, "b-commit-then-error")
	for b.Len() < entries {
		if err := b.Do("trigger fulfill payload.json times=500"); err != nil {
			t.Fatal(err)
		}
		rest(t, b)
	}
	return b
}

// show opens the program on a bench whose script is over.
func show(t testing.TB, b Bench) *model {
	m := testModel(t, "dark", 120, 36)
	m.opened(openedMsg{bench: over{b.(live)}, scenario: b.(live).Scenario()})
	m.View()
	return m
}

// over is a bench whose script has been played: opening it plays nothing.
type over struct{ live }

func (over) Play() {}

// A key press has to be on the screen within a frame of 33 ms, with 100,000 entries open.
func BenchmarkKeyAt100000(b *testing.B) {
	bench := long(b, 100_000)
	for _, c := range []struct {
		name string
		keys []string
	}{
		{"step-back-and-forward", []string{"left", "right"}},
		{"step-deep-in-the-past", []string{"left"}},
		{"cover", []string{"t"}},
		{"pane", []string{"tab"}},
		{"scroll", []string{"up"}},
		{"jump-to-start-and-end", []string{"home", "end"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := show(b, bench)
			if c.name == "step-deep-in-the-past" {
				m.session.move(bench.Len() / 2)
			}
			b.ReportAllocs()
			worst := time.Duration(0)
			for b.Loop() {
				for _, k := range c.keys {
					at := time.Now()
					m.Update(keyMsg(k))
					m.View()
					worst = max(worst, time.Since(at))
				}
			}
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms/key")
		})
	}
}

func BenchmarkFrame(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			m := show(b, played(b, "c-commit-then-drop"))
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			b.ReportAllocs()
			for b.Loop() {
				m.session.memo, m.fresh = memo{}, false
				m.View()
			}
		})
	}
}

func BenchmarkUnchangedView(b *testing.B) {
	m := show(b, played(b, "c-commit-then-drop"))
	b.ReportAllocs()
	for b.Loop() {
		m.View()
	}
}

// From nothing to the first frame: theme, memory, model, catalogue.
func BenchmarkFirstFrame(b *testing.B) {
	o := Options{Scenarios: scenarios.Catalogue(), depth: termenv.TrueColor}
	for b.Loop() {
		t, err := draw.NewTheme("dark", termenv.TrueColor, draw.Unicode)
		if err != nil {
			b.Fatal(err)
		}
		m := newModel(o, t, loadSettings(""))
		m.width, m.height = 120, 36
		m.View()
	}
}

// screenLog is a terminal that notes when a frame was written, and what the model knew then.
type screenLog struct {
	mu     sync.Mutex
	seen   *atomic.Int64
	writes []written
}

type written struct {
	at    time.Time
	entry int64
}

func (s *screenLog) Write(p []byte) (int, error) {
	s.mu.Lock()
	s.writes = append(s.writes, written{time.Now(), s.seen.Load()})
	s.mu.Unlock()
	return len(p), nil
}

// watched counts what the program has built into frames.
type watched struct {
	*model
	seen *atomic.Int64
}

func (w watched) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := w.model.Update(msg)
	return w, cmd
}

func (w watched) View() string {
	out := w.model.View()
	if w.session != nil {
		w.seen.Store(int64(w.session.view.N))
	}
	return out
}

// p99 from an event to the written frame has to stay under 50 ms with 50 runs live.
func BenchmarkEventToFrame(b *testing.B) {
	for b.Loop() {
		lat := eventLatencies(b, 50)
		slices.Sort(lat)
		if len(lat) == 0 {
			b.Fatal("no event was seen")
		}
		b.ReportMetric(float64(lat[len(lat)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(lat[len(lat)*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(float64(len(lat)), "events")
	}
}

func eventLatencies(b *testing.B, runs int) []time.Duration {
	bench := realBench(b, "b-commit-then-error", scenarios.Options{Speed: 1})
	var seen atomic.Int64
	out := &screenLog{seen: &seen}
	m := testModel(b, "dark", 120, 36)
	p := tea.NewProgram(watched{m, &seen}, tea.WithInput(nil), tea.WithOutput(out), tea.WithAltScreen(), tea.WithFPS(frameRate), tea.WithoutSignalHandler())
	var mu sync.Mutex
	arrived := map[int]time.Time{}
	m.opened(openedMsg{bench: noting{bench, func(n int) {
		mu.Lock()
		if _, ok := arrived[n]; !ok {
			arrived[n] = time.Now()
		}
		mu.Unlock()
	}}, scenario: bench.(live).Scenario()})
	m.pump.start(context.Background(), p.Send)
	defer m.pump.end()
	done := make(chan struct{})
	go func() { defer close(done); _, _ = p.Run() }()
	faults := ""
	for range runs {
		faults += " commit-then-error"
	}
	for _, line := range []string{"fault" + faults, fmt.Sprintf("trigger fulfill payload.json times=%d", runs)} {
		if err := bench.Do(line); err != nil {
			b.Fatal(err)
		}
	}
	rest(b, bench)
	for end := int64(bench.Len()); ; {
		out.mu.Lock()
		last := out.writes[len(out.writes)-1].entry
		out.mu.Unlock()
		if last >= end {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	p.Quit()
	<-done
	return latencies(arrived, out.writes)
}

func latencies(arrived map[int]time.Time, writes []written) (out []time.Duration) {
	for n, at := range arrived {
		i := slices.IndexFunc(writes, func(w written) bool { return w.entry >= int64(n) && !w.at.Before(at) })
		if i >= 0 {
			out = append(out, writes[i].at.Sub(at))
		}
	}
	return out
}

// noting tells of every entry when it was appended.
type noting struct {
	Bench
	f func(n int)
}

func (n noting) Notify(f func()) {
	n.Bench.Notify(func() { n.f(n.Bench.Len()); f() })
}

// Less than 1 % of a core when nothing moves.
func BenchmarkAtRest(b *testing.B) {
	m := testModel(b, "dark", 120, 36)
	m.opened(openedMsg{bench: over{played(b, "c-commit-then-drop").(live)}, scenario: &lang.Scenario{Title: "C"}})
	p := tea.NewProgram(m, tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithAltScreen(), tea.WithFPS(frameRate), tea.WithoutSignalHandler())
	m.pump.start(context.Background(), p.Send)
	defer m.pump.end()
	done := make(chan struct{})
	go func() { defer close(done); _, _ = p.Run() }()
	time.Sleep(200 * time.Millisecond)
	const span = 3 * time.Second
	for b.Loop() {
		before := processorTime(b)
		time.Sleep(span)
		b.ReportMetric(100*float64(processorTime(b)-before)/float64(span), "%core")
	}
	p.Quit()
	<-done
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
