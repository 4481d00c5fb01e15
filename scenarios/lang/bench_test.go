package lang

import (
	"bytes"
	"strings"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	src := []byte(scenarioB)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("b.txtar", src); err != nil {
			b.Fatal(err)
		}
	}
}

// One line of a megabyte: reading must not take the square of its length.
func BenchmarkParseLongLine(b *testing.B) {
	src := []byte("title T\nfault " + strings.Repeat("é ", 350_000) + "\n")
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := Parse("b.txtar", src); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseManyMistakes(b *testing.B) {
	src := bytes.Repeat([]byte("expcet run\n"), 20_000)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := Parse("b.txtar", src); err == nil {
			b.Fatal("no mistake was found")
		}
	}
}
