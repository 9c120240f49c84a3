package monitor

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// MouseHandler handles the mouse: the wheel scrolls what is below it, a click selects it or presses the
// key that is named there, and a double click opens it.
func (u *ui) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, e *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := e.Position()
		switch action {
		case tview.MouseLeftDown:
			u.press(u.click(x, y))
		case tview.MouseLeftDoubleClick:
			u.press(u.opens(x, y))
		case tview.MouseScrollUp, tview.MouseScrollDown:
			u.point(x, y)
			by := 3
			if action == tview.MouseScrollUp {
				by = -by
			}
			u.scroll(by)
		default:
			return false, nil
		}
		return true, nil
	}
}

// press acts as if the key of that name was pressed; empty: none.
func (u *ui) press(name string) {
	if e := keyEvent(name); e != nil {
		u.key(e)
	}
}

// placeAt is the panel at a position; false: there is none.
func (u *ui) placeAt(x, y int) (rect, bool) {
	for _, p := range u.places {
		if x >= p.x && x < p.x+p.w && y >= p.y && y < p.y+p.h {
			return p, true
		}
	}
	return rect{}, false
}

// click selects what is at a position. It returns the key that is named there.
func (u *ui) click(x, y int) (key string) {
	defer u.lock()()
	p, ok := u.placeAt(x, y)
	if !ok {
		return ""
	}
	if p.panel == panelKeys {
		for _, s := range u.spots {
			if x >= s.X && x < s.End {
				return s.Key
			}
		}
		return ""
	}
	switch over, clicks := u.covers().(clicker); {
	case u.help || y == p.y: // a title
	case clicks:
		over.Click(x-p.x, y-p.y-1)
	case u.onTimeline():
		u.selects(u.timeline.Click(x-p.x, y-p.y-1))
	case u.covered():
	case p.panel == panelIterations:
		u.focus = p.panel
		u.selected = iterationAt(&u.model.Run, u.selected, u.listTop+y-p.y-1)
	case p.panel == panelLog:
		u.focus = p.panel
	}
	return ""
}

// point makes the panel at a position the one that scrolls.
func (u *ui) point(x, y int) {
	defer u.lock()()
	if p, ok := u.placeAt(x, y); ok && !u.covered() && (p.panel == panelIterations || p.panel == panelLog) {
		u.focus = p.panel
	}
}

// covers is the page that gets the mouse; nil: no page.
func (u *ui) covers() any {
	switch {
	case u.palette != nil:
		return u.palette
	case u.answers != nil:
		return u.answers
	case u.top() != nil:
		return u.top()
	}
	return nil
}

// onTimeline reports whether the mouse reaches the timeline.
func (u *ui) onTimeline() bool { return u.timeline != nil && u.page == nil && u.covers() == nil }

// covered reports whether a page lies over the panels.
func (u *ui) covered() bool {
	return u.covers() != nil || u.page != nil || u.timeline != nil || u.answers != nil
}

// opens is the key that opens what is at a position.
func (u *ui) opens(x, y int) string {
	defer u.lock()()
	p, ok := u.placeAt(x, y)
	_, clicks := u.covers().(clicker)
	switch {
	case !ok || u.help || p.panel == panelKeys || p.panel == panelHeader:
		return ""
	case u.palette == nil && u.answers != nil && !u.answers.Option(y-p.y-1):
		return "" // it would send what was typed so far
	case u.onTimeline() && u.timeline.Click(x-p.x, y-p.y-1) > 0:
		return "enter"
	case clicks && y > p.y:
		return "enter"
	case u.covered():
		return ""
	case p.panel == panelIterations && y > p.y:
		return "enter"
	case p.panel == panelPlan:
		return "t"
	}
	return string(rune('0' + p.panel)) // the panel alone, and back
}
