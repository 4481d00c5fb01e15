// Package engine runs workflows whose steps call services, and knows what it does
// not know: an attempt ends succeeded, failed or unknown, and an unknown one is
// never repeated by itself.
//
// The rules are three tables: how a call ended (rules_call.go), how an attempt
// ended (rules_attempt.go) and what is believed of an operation (belief.go). The
// only truth about a run is its History; every view is a fold of it. What leaves
// the process is on disk before it leaves, so that a crash at any moment loses
// nothing that was acknowledged and repeats nothing by itself.
//
// The engine never guesses, never repeats a request behind a script's back, and
// never knows what the provider did: that is what a look-up is for.
//
// # Where it differs from the language's reference
//
// The documents, the codes and the limits are those of the reference runtime of WOML.
// What is decided otherwise here, and why:
//
//   - A call's failure that the script lets through is repeated where table a says so.
//     The reference repeats only what a script threw itself: never a 503, and always an
//     error of the script's own after a request that nobody answered. Here such an
//     attempt is unknown, whatever the script makes of it.
//   - A 5xx to a write without a key is ambiguous, what was never sent may always be
//     sent again, and a redirect that was refused is not asked for again.
//   - A retry is due after the larger of its delay and the reply's Retry-After. Past the
//     run's timeout, the key's retention or retry-max-delay there is none.
//   - A write follows no redirect unless it is asked to.
//   - A key may travel in a field of the body: idempotency takes {field, value} too.
//   - Waiting for a managed call is none of a script's 5 s, or a request's timeout of
//     10 s would mean nothing.
//   - An attempt makes at most 32 calls in all; the reference counts those in flight.
//   - Bad input of a call is a failure with the service's code, and ends the attempt
//     without a retry. The reference throws a TypeError, and would repeat that.
//   - Header and query values may be numbers, booleans and lists. Headers of the
//     connection, X-Request-Id and a user in the address are refused.
//   - What a crash left open can be looked up and settled, and the run goes on. In the
//     reference it has failed for good.
//   - While a child that a run waited for is open, or something of it is unknown, nothing
//     of the run is undone. Once the child is settled, the run can be resubmitted, and
//     meets it again.
//   - SQL is one statement within the one transaction of its operation: BEGIN, ATTACH
//     and PRAGMA are refused. What SQLite says of a failure is shown.
//   - The document that is loaded says a workflow's limits, for runs of a former one too.
//   - WOML_SCRIPT_HOST_CRASHED does not exist: the host is this process, and when it
//     crashes the next one says WOML_STEP_INTERRUPTED.
//   - What has no counterpart there has codes that begin with FAULTLAB_.
package engine
