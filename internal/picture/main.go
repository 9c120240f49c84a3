// Command picture turns a terminal screen, as `tmux capture-pane -e -p` prints
// it, into an SVG image:
//
//	tmux capture-pane -e -p | go run ./internal/picture >screen.svg
package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"os"
	"strings"
)

func main() {
	screen, err := io.ReadAll(os.Stdin)
	if err == nil {
		out := bufio.NewWriter(os.Stdout)
		draw(out, parse(string(screen)))
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// Sizes in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18.0
	fontSize   = 14.0
	margin     = 10.0
)

// draw writes the image. Blocks and frames are shapes, so that they meet in every
// font. The rest is text, each run of one style stretched to the width of its cells.
func draw(w io.Writer, rows [][]cell) {
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	width, height := float64(columns)*cellWidth+2*margin, float64(len(rows))*cellHeight+2*margin
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n",
		width, height, width, height)
	fmt.Fprintf(w, `<style>text{font:%gpx ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace}`+
		`rect{shape-rendering:crispEdges}</style>`+"\n", fontSize)
	fmt.Fprintf(w, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", background)
	for y, row := range rows {
		for x := 0; x < len(row); {
			n := run(row[x:])
			drawRun(w, place{margin + float64(x)*cellWidth, margin + float64(y)*cellHeight}, row[x:x+n])
			x += n
		}
	}
	fmt.Fprintln(w, "</svg>")
}

type place struct{ x, y float64 }

// run returns how many cells are drawn together.
func run(row []cell) int {
	n := 1
	for n < len(row) && row[n].style == row[0].style && (shape(row[0].text) == nil) == (shape(row[n].text) == nil) {
		n++
	}
	return n
}

func drawRun(w io.Writer, at place, cells []cell) {
	s := cells[0].style
	fg, bg := s.colors()
	width := float64(len(cells)) * cellWidth
	if bg != background {
		fmt.Fprintf(w, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", at.x, at.y, width,
			cellHeight, bg)
	}
	opacity := ""
	if s.dim {
		opacity = ` opacity="0.6"`
	}
	if shape(cells[0].text) == nil {
		drawText(w, at, cells, opacity)
		return
	}
	for i, c := range cells {
		for _, r := range shape(c.text) {
			fmt.Fprintf(w, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s" fill-opacity="%g"%s/>`+"\n",
				at.x+(float64(i)+r.x)*cellWidth, at.y+r.y*cellHeight, r.w*cellWidth, r.h*cellHeight, fg, r.ink, opacity)
		}
	}
}

// drawText omits the spaces around the text, which viewers treat differently, and writes
// the inner ones as no-break spaces, which do not collapse.
func drawText(w io.Writer, at place, cells []cell, opacity string) {
	first, last := 0, len(cells)
	for first < last && cells[first].text == " " {
		first++
	}
	for last > first && cells[last-1].text == " " {
		last--
	}
	if first == last {
		return
	}
	var text strings.Builder
	for _, c := range cells[first:last] {
		text.WriteString(c.text)
	}
	weight := ""
	if cells[0].style.bold {
		weight = ` font-weight="bold"`
	}
	fg, _ := cells[0].style.colors()
	fmt.Fprintf(w, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s%s>%s</text>`+
		"\n", at.x+float64(first)*cellWidth, at.y+cellHeight*0.76, float64(last-first)*cellWidth, fg, weight, opacity,
		strings.ReplaceAll(html.EscapeString(text.String()), " ", "\u00a0"))
}

// rect is a part of a cell, in fractions of its width and height.
type rect struct{ x, y, w, h, ink float64 }

// shape returns the parts of a block or frame character, nil for text.
func shape(text string) []rect {
	const thin, thick = 0.07, 0.14
	across := rect{0, 0.5 - thin/2, 1, thin, 1}
	down := rect{0.5 - thin, 0, thin * 2, 1, 1}
	switch text {
	case "─":
		return []rect{across}
	case "━":
		return []rect{{0, 0.5 - thick/2, 1, thick, 1}}
	case "│":
		return []rect{down}
	case "┤":
		return []rect{down, {0, 0.5 - thin/2, 0.5, thin, 1}}
	case "┬":
		return []rect{across, {0.5 - thin, 0.5, thin * 2, 0.5, 1}}
	case "█":
		return []rect{{0, 0, 1, 1, 1}}
	case "░":
		return []rect{{0, 0, 1, 1, 0.25}}
	}
	if i := strings.Index("▁▂▃▄▅▆▇", text); i >= 0 && text != "" && len(text) == 3 {
		part := float64(i/3+1) / 8
		return []rect{{0, 1 - part, 1, part, 1}}
	}
	return nil
}
