package cmdline

import (
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"ralph/logs/termtext"
)

// Texts changes arguments that are list items, such as "- [ ] Log in", so that they are not taken for flags.
func Texts(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if strings.HasPrefix(arg, "- ") || strings.HasPrefix(arg, "-[") {
			args[i] = " " + arg
		}
	}
	return args
}

// Shorten is the text as one clean row of at most 60 cells.
func Shorten(s string) string { return termtext.Fit(termtext.Line(s), 60) }

// Quote writes an argv so that a POSIX shell reads it back. The name in
// --flag=value and NAME=value stays bare: quoted, the latter is not an assignment.
func Quote(args ...string) string {
	named := regexp.MustCompile(`^(--[a-z][a-z-]*|[A-Za-z_][A-Za-z0-9_]*)=`)
	return strings.Join(termtext.Each(args, func(s string) string {
		name := named.FindString(s)
		if value := s[len(name):]; value != "" || name == "" {
			return name + quoteWord(value)
		}
		return name
	}), " ")
}

func quoteWord(s string) string {
	if q, err := syntax.Quote(s, syntax.LangPOSIX); err == nil {
		return q
	}
	// The library quotes no control characters for POSIX shells.
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// NewEncoder writes JSON that a person may also look at: nothing in it acts on a
// terminal.
func NewEncoder(w io.Writer) *json.Encoder { return json.NewEncoder(inertJSON{w}) }

// JSON prints a value for programs, indented.
func (f *Factory) JSON(value any) error {
	enc := NewEncoder(f.Out)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

type inertJSON struct{ w io.Writer }

// Write gets whole values: an Encoder writes each at once.
func (j inertJSON) Write(p []byte) (int, error) {
	if _, err := io.WriteString(j.w, termtext.JSON(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// lastColumn is how many cells the last column of a table keeps before others are left out.
const lastColumn = 20

// Table prints rows of clean cells in columns; the first row is the head. What is too wide for the terminal
// loses the columns of least, in this order, and then the end of its lines.
func (f *Factory) Table(rows [][]string, least ...string) {
	width := f.Width()
	wide := widths(rows)
	for ; width > 0 && len(least) > 0 && total(wide) > width; wide = widths(rows) {
		i := slices.Index(rows[0], least[0])
		if least = least[1:]; i < 0 {
			continue
		}
		for r := range rows {
			rows[r] = slices.Delete(slices.Clone(rows[r]), i, i+1)
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", wide[i]-termtext.Width(cell)+2))
		}
		text := strings.TrimRight(line.String(), " ")
		if width > 0 {
			text = termtext.Fit(text, width)
		}
		f.Say("%s", text)
	}
}

// widths are the cells that each column takes.
func widths(rows [][]string) []int {
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			wide[i] = max(wide[i], termtext.Width(cell))
		}
	}
	return wide
}

// total is the least width of a line in which only the end of the last column is cut.
func total(wide []int) (n int) {
	for _, w := range wide[:len(wide)-1] {
		n += w + 2
	}
	return n + min(wide[len(wide)-1], lastColumn)
}
