// Package ecma knows where the JavaScript runtime differs from the language (ECMA-262), so that a script is never
// silently wrong: Pattern rewrites a regular expression into one that means the same and that the runtime gets right,
// or refuses it; Unsupported names what the parser stumbled over.
//
// It is text in, text out, and knows neither the runtime nor any other package of the engine. What it writes is
// JavaScript again: a rewritten pattern means the same in every engine, and may be rewritten once more.
package ecma
