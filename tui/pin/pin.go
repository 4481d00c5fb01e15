// Package pin settles, before Bubble Tea is initialised, which background the
// terminal is taken to have.
//
// Bubble Tea v1 asks the terminal for its background while the program is being
// initialised, for every command of it, and waits 5 s where nothing answers (a
// serial line, a CI runner's pty). A value that is set beforehand is not asked for.
// Go initialises packages that are ready in the order of their import paths, and
// "faultlab/tui/pin" comes before "github.com/charmbracelet/bubbletea"; both are
// ready as soon as lipgloss is. A test of the package tui holds a silent terminal
// against it.
//
// It promises that no question is asked, and never says what the background is:
// the workbench asks by itself, with a limit, when it opens.
package pin

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
