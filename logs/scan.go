package logs

import (
	"slices"
	"strings"
	"sync"
)

// minKey is the minimum number of consecutive key bytes in a vendor's key.
const minKey = 16

// sign is a text with which a secret starts that need not be a long word.
type sign struct {
	text   string
	anchor int    // index of its rarest byte, which is searched for
	before string // bytes of which one is before the text, and belongs to the start; "": any
}

var signs = [...]sign{{text: "="}, {text: ":"}, {text: "-----BEGIN "}, {text: "</"}, {text: "passw", anchor: 4},
	{text: "TRUE", anchor: 2}, {text: "FALSE"}, {text: "-", before: " \"'"}}

// size is the length of the sign with the byte before it.
func (s *sign) size() int { return len(s.text) + min(1, len(s.before)) }

// next returns the first place of the sign at or after at where something may start; len(text): none.
func (s *sign) next(text string, at int, may *[256][]start) int {
	anchor, first := s.text[s.anchor], 0
	if s.before != "" {
		first = 1
	}
	for i := at + s.anchor + first; i < len(text); i++ {
		j := strings.IndexByte(text[i:], anchor)
		if j < 0 {
			break
		}
		i += j
		start := i - s.anchor
		end := start + len(s.text)
		if s.anchor > 0 && text[i-1] != s.text[s.anchor-1] || end < len(text) && len(may[text[end]]) == 0 ||
			len(s.text) > 1 && !strings.HasPrefix(text[start:], s.text) ||
			first > 0 && strings.IndexByte(s.before, text[start-1]) < 0 {
			continue
		}
		return start - first
	}
	return len(text)
}

// beforeWords are texts directly before the long word of a secret.
var beforeWords = [...]string{"earer ", "1//", "sha256~", "$production$", "vault login ", "~"}

// starts are the texts with which shapes start.
type starts struct {
	signs [len(signs)][256][]start // by the byte after the sign
	words map[uint32][]start       // by their first three bytes
	// tokens start with one of beforeWords.
	tokens [256][]opening // by their last byte
	// ends is NRAL, the only text at the end of a long word that reveals it.
	ends []start
	// hashes has a bit for the hash of each key of words.
	hashes [1 << 16 / 64]uint64
}

// opening is one of beforeWords with what starts there.
type opening struct {
	text   string
	starts []start
}

type start struct {
	text  string
	shape *shape
}

const endOfWord = "NRAL"

var allStarts = sync.OnceValue(func() *starts {
	s := &starts{words: map[uint32][]start{}}
	all := shapes()
	for i := range all {
		for _, text := range all[i].starts {
			s.add(start{text, &all[i]})
		}
	}
	return s
})

func (s *starts) add(one start) {
	if slices.Contains(beforeWords[:], one.text) {
		last := &s.tokens[one.text[len(one.text)-1]]
		*last = append(*last, opening{one.text, []start{one}})
		slices.SortFunc(*last, func(a, b opening) int { return len(b.text) - len(a.text) }) // the first one starts first
		return
	}
	if one.text == endOfWord {
		s.ends = append(s.ends, one)
		return
	}
	for k, sign := range signs {
		if strings.HasPrefix(one.text, sign.text) && sign.before == "" ||
			sign.before != "" && strings.IndexByte(sign.before, one.text[0]) >= 0 {
			for next := range 256 {
				if size := sign.size(); len(one.text) == size || one.text[size] == byte(next) {
					s.signs[k][next] = append(s.signs[k][next], one)
				}
			}
			return
		}
	}
	three := uint32(one.text[0])<<16 | uint32(one.text[1])<<8 | uint32(one.text[2])
	s.hashes[hash(three)>>6] |= 1 << (hash(three) & 63)
	s.words[three] = append(s.words[three], one)
}

func hash(three uint32) uint32 { return three * 0x9e3779b1 >> 16 }

// places finds where a text may have a secret, in order. It jumps from one sign and one
// long word to the next: redaction must not be slower than the program that prints the text.
type places struct {
	text     string
	starts   *starts
	signs    [len(signs)]int // the next place of each sign; len(text): none
	from, to int             // the next long word
}

func newPlaces(text string) *places {
	p := &places{text: text, starts: allStarts()}
	for k := range p.signs {
		p.signs[k] = -1
	}
	return p
}

// next returns the first place at or after at, and what may start there; -1: none.
func (p *places) next(at int) (place int, candidates []start) {
	for at < len(p.text) {
		first, sign := len(p.text), 0
		for k := range p.signs {
			if p.signs[k] < at {
				p.signs[k] = signs[k].next(p.text, at, &p.starts.signs[k])
			}
			if p.signs[k] < first {
				first, sign = p.signs[k], k
			}
		}
		if p.to <= at {
			p.from, p.to = longWord(p.text, at)
		}
		if place, found := p.beforeWord(at, first); found != nil {
			return place, found
		}
		if in, found := p.inWord(max(at, p.from), min(p.to, first)); in >= 0 {
			return in, found
		}
		if first < p.to {
			next := byte('\n')
			if end := first + signs[sign].size(); end < len(p.text) {
				next = p.text[end]
			}
			return first, p.starts.signs[sign][next]
		}
		if end := p.to - len(endOfWord); end >= at && p.text[end:p.to] == endOfWord {
			return end, p.starts.ends
		}
		at = p.to
	}
	return -1, nil
}

// inWord returns the first place in text[from:to] where a word starts like a key.
func (p *places) inWord(from, to int) (place int, candidates []start) {
	const longestEscape = 2 // after its \ or %
	for i := from; i+2 < to; i++ {
		if i > p.from+longestEscape && isWordByte(p.text[i-1]) && isWordByte(p.text[i]) && p.text[i-1] != 'm' {
			continue
		}
		three := uint32(p.text[i])<<16 | uint32(p.text[i+1])<<8 | uint32(p.text[i+2])
		h := hash(three)
		if p.starts.hashes[h>>6]&(1<<(h&63)) == 0 || isWordByte(p.text[i]) && !startsWord(p.text, i) {
			continue
		}
		if found := p.starts.words[three]; found != nil {
			return i, found
		}
	}
	return -1, nil
}

// beforeWord returns the first place between at and limit where a text directly before the long word starts.
func (p *places) beforeWord(at, limit int) (place int, candidates []start) {
	if p.from == 0 || p.from > len(p.text) || p.from <= at {
		return -1, nil
	}
	for i := range p.starts.tokens[p.text[p.from-1]] {
		one := &p.starts.tokens[p.text[p.from-1]][i]
		place := p.from - len(one.text)
		if place >= at && place < limit && p.text[place:p.from] == one.text {
			return place, one.starts
		}
	}
	return -1, nil
}

// longWord returns the first minKey or more consecutive key bytes that end after
// at. It tests every minKey-th byte first, so that prose passes at memory speed.
func longWord(text string, at int) (from, to int) {
	for i := at; i < len(text); i += minKey {
		if !isKeyByte(text[i]) {
			continue
		}
		for from = i; from > 0 && i-from < minKey && isKeyByte(text[from-1]); {
			from--
		}
		for to = i + 1; to < len(text) && isKeyByte(text[to]); {
			to++
		}
		if to-from >= minKey {
			return from, to
		}
		i = max(i, to-minKey)
	}
	return len(text), len(text)
}

// startsWord reports whether a word begins at text[i]: what comes before it is no
// letter or digit of the same word, but may be an escape such as \n, %3D or ESC[31m.
func startsWord(text string, i int) bool {
	if i == 0 || !isWordByte(text[i-1]) {
		return true
	}
	if i < 2 {
		return false
	}
	before := text[:i]
	switch c := text[i-1]; {
	case text[i-2] == '\\' && (c == 'n' || c == 'r' || c == 't'):
		return true
	case isHex(c) && isHex(text[i-2]) && i > 2 && text[i-3] == '%':
		return true
	case c == 'm':
		j := len(before) - 2
		for j > 0 && (before[j] >= '0' && before[j] <= '9' || before[j] == ';') {
			j--
		}
		return before[j] == '['
	}
	return false
}

// isWordByte reports whether b is a letter or a digit.
func isWordByte(b byte) bool { return keyBytes[b] && b != '-' && b != '_' && b != '.' }

// isKeyByte reports whether b may be in a key.
func isKeyByte(b byte) bool { return keyBytes[b] }

// keyBytes has each letter, digit, - _ and .
var keyBytes = [256]bool{
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'a': true, 'b': true, 'c': true, 'd': true, 'e': true, 'f': true, 'g': true, 'h': true, 'i': true, 'j': true, 'k': true, 'l': true, 'm': true,
	'n': true, 'o': true, 'p': true, 'q': true, 'r': true, 's': true, 't': true, 'u': true, 'v': true, 'w': true, 'x': true, 'y': true, 'z': true,
	'A': true, 'B': true, 'C': true, 'D': true, 'E': true, 'F': true, 'G': true, 'H': true, 'I': true, 'J': true, 'K': true, 'L': true, 'M': true,
	'N': true, 'O': true, 'P': true, 'Q': true, 'R': true, 'S': true, 'T': true, 'U': true, 'V': true, 'W': true, 'X': true, 'Y': true, 'Z': true,
	'-': true, '_': true, '.': true,
}

func isHex(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F' }
