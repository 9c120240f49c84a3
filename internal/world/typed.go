package world

import (
	"io"
	"os"
	"testing"

	"github.com/creack/pty"
)

// Typed returns a terminal on which somebody has typed a text. What it echoes is dropped.
func Typed(t testing.TB, text string) *os.File {
	t.Helper()
	person, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = person.Close(), terminal.Close() })
	go func() { _, _ = io.Copy(io.Discard, person) }()
	if _, err := person.WriteString(text); err != nil {
		t.Fatal(err)
	}
	return terminal
}
