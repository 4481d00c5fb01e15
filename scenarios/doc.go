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
// Explore searches the schedules of a scenario (package scenarios/explore). How well it finds is measured with faults
// that were planted on purpose, in scripts, in the provider's contract and in the engine's history: the smallest bound at
// which each is found, and the number of schedules within it. A test keeps the table true.
//
//	planted fault                                               verdict          faults  crashes  schedules
//	a new key for each attempt                                  duplicate             1        0         12
//	the attempt's number in the key                             duplicate             1        0         12
//	the time in the key                                         duplicate             1        0         12
//	keys counted in a loop                                      duplicate             1        0         23
//	catch, and send again under a new key                       duplicate             1        0         12
//	catch, and send an unkeyed write again                      duplicate             1        0         12
//	take 404 of a look-up for new work, without a key           duplicate             1        0         12
//	success although the error was swallowed                    phantom success       1        0         12
//	success before the effect: not awaited                      phantom success       1        0         12
//	a step that does not undo the one before it                 half done             1        0         23
//	the provider ignores keys                                   duplicate             1        0         12
//	the provider remembers successes only                       duplicate             1        0         12
//	the provider forgets keys before the retry                  duplicate             1        0         12
//	the provider locks a key after a 500                        unresolved            1        0         12
//	one key for two operations                                  phantom success       0        0          1
//	engine: the start of a request is not on disk               duplicate             0        1          4
//	engine: the journal forgets a call that ended               duplicate             0        1          4
//	engine: the evidence of an earlier look-up is taken again   phantom success       1        1        227
//
// It never lets a request out to any address but the bench's own provider, which
// stands where documents say http://127.0.0.1:4040, and it has no rules of retrying
// of its own: those are package engine's.
package scenarios
