//go:build e2e && linux

package browser

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"sort"

	"github.com/chromedp/chromedp"
)

// ctx2 is a tab, and the address of the run that the pictures show.
type ctx2 struct {
	context.Context
	path string
}

// pictures writes those of the documentation with -update, else it looks whether they are there.
func (s *site) pictures(c ctx2) {
	s.Helper()
	for name, look := range map[string]struct {
		size
		dark bool
		path string
	}{"dashboard.png": {desktop, false, c.path}, "dashboard-phone.png": {phone, true, "/"}} {
		file := filepath.Join("..", "..", "..", "docs", name)
		if !*update {
			_, err := os.Stat(file)
			s.Do(err)
			continue
		}
		s.must(c, as(look.size, look.dark), chromedp.Navigate(s.url+look.path), text("RUNNING"), openTasks())
		shot, err := chromedp.Run(c, chromedp.CaptureScreenshot())
		s.Do(err)
		s.Do(os.WriteFile(file, small(shot), 0o644))
	}
}

// openTasks opens the list of tasks, once it is there; the page of all runs has the iterations instead.
func openTasks() step {
	return until(`location.pathname === '/' ? document.querySelectorAll('.card svg').length > 3 : (() => {
		const tasks = document.querySelector('#plan details');
		tasks?.setAttribute('open', '');
		return !!tasks; })()`)
}

// small keeps the 256 colours that a picture has most of.
func small(shot []byte) []byte {
	from, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return shot
	}
	count, all := map[color.Color]int{}, []color.Color{}
	b := from.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := from.At(x, y)
			if count[c]++; count[c] == 1 {
				all = append(all, c)
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return count[all[i]] > count[all[j]] })
	to := image.NewPaletted(b, all[:min(len(all), 256)])
	draw.Draw(to, b, from, b.Min, draw.Src)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to); err != nil {
		return shot
	}
	return out.Bytes()
}
