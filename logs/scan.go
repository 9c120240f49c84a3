package logs

import (
	"strings"
	"sync"
)

// minKey is the minimum number of consecutive key bytes in a vendor's key.
const minKey = 16

// signs are texts with which a secret starts that need not be a long word.
var signs = [...]string{"=", ":", "-----BEGIN "}

// beforeWord is the text before the long word of a token.
const beforeWord = "earer "

// starts are the texts with which shapes start.
type starts struct {
	signs [len(signs)][]start
	words map[uint32][]start // by their first three bytes
	// tokens start with beforeWord.
	tokens []start
	// hashes has a bit for the hash of each key of words.
	hashes [1 << 16 / 64]uint64
}

type start struct {
	text  string
	shape *shape
}

var allStarts = sync.OnceValue(func() *starts {
	s := &starts{words: map[uint32][]start{}}
	all := shapes()
	for i := range all {
	texts:
		for _, text := range all[i].starts {
			if text == beforeWord {
				s.tokens = append(s.tokens, start{text, &all[i]})
				continue
			}
			for k, sign := range signs {
				if strings.HasPrefix(text, sign) {
					s.signs[k] = append(s.signs[k], start{text, &all[i]})
					continue texts
				}
			}
			three := uint32(text[0])<<16 | uint32(text[1])<<8 | uint32(text[2])
			s.hashes[hash(three)>>6] |= 1 << (hash(three) & 63)
			s.words[three] = append(s.words[three], start{text, &all[i]})
		}
	}
	return s
})

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
				p.signs[k] = indexFrom(p.text, at, signs[k])
			}
			if p.signs[k] < first {
				first, sign = p.signs[k], k
			}
		}
		if p.to <= at {
			p.from, p.to = longWord(p.text, at)
		}
		if before := p.from - len(beforeWord); before >= at && before < first && p.text[before:p.from] == beforeWord {
			return before, p.starts.tokens
		}
		if in, found := p.inWord(max(at, p.from), min(p.to, first)); in >= 0 {
			return in, found
		}
		if first < p.to {
			return first, p.starts.signs[sign]
		}
		at = p.to
	}
	return -1, nil
}

// inWord returns the first place in text[from:to] where a word starts like a key.
func (p *places) inWord(from, to int) (place int, candidates []start) {
	var three uint32
	for i := from; i < to; i++ {
		three = (three<<8 | uint32(p.text[i])) & 0xffffff
		h := hash(three)
		if p.starts.hashes[h>>6]&(1<<(h&63)) == 0 || i < from+2 {
			continue
		}
		if found := p.starts.words[three]; found != nil && (!isWordByte(p.text[i-2]) || startsWord(p.text, i-2)) {
			return i - 2, found
		}
	}
	return -1, nil
}

// indexFrom returns the index of part at or after at; len(text): none.
func indexFrom(text string, at int, part string) int {
	if i := strings.Index(text[at:], part); i >= 0 {
		return at + i
	}
	return len(text)
}

// longWord returns the first shortestKey or more consecutive key bytes that end after
// at. It tests every shortestKey-th byte first, so that prose passes at memory speed.
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

func isWordByte(b byte) bool { return isKeyByte(b) && b != '-' && b != '_' && b != '.' }

// isKeyByte reports whether b may be in a key.
func isKeyByte(b byte) bool { return keyBytes[b>>6]&(1<<(b&63)) != 0 }

// keyBytes has a bit for each letter, digit, - _ and .
var keyBytes = [4]uint64{0x3ff600000000000, 0x7fffffe87fffffe}

func isHex(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F' }
