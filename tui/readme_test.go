package tui

import (
	"os"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// The README's picture is what the program shows, line by line.
func TestTheReadmeShowsTheScreen(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```text\n")
	picture, _, ok := strings.Cut(rest, "```")
	if !ok || picture == "" {
		t.Fatal("the README has no picture")
	}
	m := show(t, played(t, "b-commit-then-error"))
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 25})
	var frame strings.Builder
	for line := range strings.Lines(ansi.Strip(m.View())) {
		frame.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	if !strings.Contains(frame.String(), picture) {
		t.Errorf("the README shows\n%s\nand the screen\n%s", picture, frame.String())
	}
}
