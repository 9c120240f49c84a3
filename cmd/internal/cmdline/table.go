package cmdline

import (
	"slices"
	"strings"

	"ralph/logs/termtext"
)

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
