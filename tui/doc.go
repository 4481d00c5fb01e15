// Package tui is the workbench: the interactive screen on which a person runs
// scenarios, sees what the caller believes beside what the provider did, goes
// through time, breaks things, and settles what nobody knows.
//
// It draws a Bench and sends it verbs; it has no rules of its own about retries,
// keys or evidence. Every key, the palette and the footer come from the verb table
// of package lang, which the scenario files share.
//
// It promises:
//   - that state is told by a glyph and a word, never by colour alone;
//   - that no text of others, whatever bytes it holds, can leave its place on the
//     screen or give the terminal an order (see clean);
//   - that no line is wider than the terminal, at any size;
//   - that nothing blocks the screen: what may block runs in a command, benches
//     tell the pump that something is new and never wait for it;
//   - that nothing is drawn and no clock ticks while nothing moves;
//   - that the terminal is given back as it was found, after a quit, a signal and a panic.
//
// It never decides by itself: a look-up is one key, a decision has to be typed.
//
// How it is built: one Bubble Tea model (model.go) with a stack of screens, each a
// plain struct that gives lines for a width and a height. Text is put on lines by
// pens (pen.go) in inks (ink.go), which a theme (theme.go) makes into colours.
package tui
