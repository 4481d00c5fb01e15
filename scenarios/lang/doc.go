// Package lang is the language of scenarios: one table of verbs, and what reads,
// writes and completes lines made of them. Scenario files, the palette and the keys
// of the workbench, replays and recordings all use this table, so a word means the
// same everywhere.
//
// It promises that a word that it does not know never passes in silence: every
// mistake has its file, line and column and the words that would fit. It never carries a verb out, opens
// no file and starts nothing: that is the bench's part, and so this package knows
// no other of the project.
//
// # Scenario files
//
// A scenario is one text file: a head, a script, and the files that the script
// uses (in the txtar format, so the file's name ends in .txtar).
//
//	title  B. Commit, then 503
//	teach  The first attempt really created the job.
//
//	fault  commit-then-error
//	ask    How many jobs will exist at the end?  0 | *1 | 2
//	because The second attempt carries the same key.
//	trigger fulfill payload.json
//	wait
//	expect run succeeded
//	expect attempts 2
//	expect jobs 1
//	expect verdict one-effect
//	-- workflow.woml --
//	<woml> ... </woml>
//	-- payload.json --
//	{"orderId":"order-42","paymentId":"pay-42","amount":120}
//
// Every line is a verb and its arguments. Blank lines mean nothing, and a line that
// begins with # is a comment. The head says what the scenario is, and ends where
// the script begins. The script is carried out line by line; nothing happens
// between two lines but what the lines say, so time stands still unless a line
// lets it pass (wait, advance, expire). A line acts before what falls due at the
// same instant, simulated and on sockets. A report shows the moment of the last
// line; later events are in no verdict. The embedded files come last. Each of them
// must be named by a line, and each that a line names must exist; only the workflow
// needs no line.
//
// # Words
//
// Words are separated by spaces. A word with spaces in it stands in quotes: in double
// quotes \" \\ \n \t and \u0000 are escapes, in single quotes nothing is. An object
// or an array of JSON is one word and needs no quotes. Options are written
// name=value, in any order and place; a value that has a = in it stands in quotes.
// A count is 2, >=2 or <=2; a duration is 250ms, 1s, 1m30s, 24h or 45d, and is never
// negative. Prose (a title, what there is to learn, a question) is
// taken as it stands, quotes and all.
//
// # Which run, step and operation
//
// run=2 chooses the second run (in order of admission), step=ID a step and step=~ID
// its compensation, attempt=1 an attempt, key=K and subject=S an operation. A step
// that writes twice has two operations: write=NAME or write="POST /invoices"
// chooses one, by the name of its call or by its method and path. Without such an
// option an expectation is about all of them: each must be as stated. With `not`,
// none may be. If nothing matches, the expectation fails, with or without
// `not`; only counts may be 0.
package lang
