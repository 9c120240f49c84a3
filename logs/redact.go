package logs

import "strings"

const (
	// shownOfKey is how many bytes of a key stay visible, so that a reader recognizes it.
	shownOfKey = 6
	redacted   = "...(redacted)"
)

// Redact hides secrets of known shapes in a text for logs and screens. The first
// characters of a key stay visible, and so do the name of a variable and an address
// without its password. It returns text without secrets unchanged, without a copy.
func Redact(text string) string {
	var b strings.Builder
	kept := 0 // text[:kept] has been written to b
	places := newPlaces(text)
	for at, starts := places.next(0); at >= 0; {
		next := at + 1
		if _, from, to := find(text, at, starts, (*shape).hide); to > kept {
			if from >= kept { // else what is before it is hidden already
				b.WriteString(text[kept:from])
				b.WriteString(redacted)
			}
			kept, next = to, max(to, next)
		}
		at, starts = places.next(next)
	}
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	return b.String()
}

// find returns the first secret of several that may start at text[at]; to is 0 if
// there is none.
func find(text string, at int, starts []start, by func(*shape) finder) (s *shape, from, to int) {
	for _, one := range starts {
		if !strings.HasPrefix(text[at:], one.text) || by(one.shape) == nil {
			continue
		}
		if from, to, ok := by(one.shape)(text, at); ok {
			return one.shape, from, to
		}
	}
	return nil, 0, 0
}

func (s *shape) hide() finder   { return s.hidden }
func (s *shape) refuse() finder { return s.refused }
