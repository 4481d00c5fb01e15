// Package scenarios is the bench: one engine, one misbehaving provider and one clock
// wired together, the verbs that act on them, and the catalogue of scenarios that
// use them to teach and to guard.
//
// A Scenario is a text file (package scenarios/lang): a script of verbs, then the
// files that it uses. Open sets a Bench up for one, Play carries its script out, Do
// carries out one more verb as a person types it, and Recording writes what was done
// as a scenario again. Replay does all of it at once and reports what was expected
// and what was seen.
//
// Everything that happens on a bench is on its timeline (package scenarios/timeline), whose views are what a screen, a
// replay and an expectation (package scenarios/expect) see.
//
// The package promises that
//
//   - the same scenario under the same seed gives the same timeline, byte for byte,
//     on the virtual clock;
//   - simulated and on real sockets the caller's history, the provider's log and its
//     ledger are the same, times included, as far as they have an order at all:
//     what several runs do at the same instant has none;
//   - a view never changes once it is made, and may be read from any goroutine;
//   - a bench leaves nothing behind: its database files are gone when it is closed.
//
// It never lets a request out to any address but the bench's own provider, which
// stands where documents say http://127.0.0.1:4040, and it has no rules of retrying
// of its own: those are package engine's.
package scenarios
