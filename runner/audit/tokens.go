package audit

type tokenKind int

const (
	tokenWord tokenKind = iota
	tokenCall           // a word before an opening bracket
	tokenNumber
	tokenString
)

type token struct {
	kind tokenKind
	text string
}

// tokens are the words, numbers and strings of a source, in order.
func tokens(s source) []token {
	var all []token
	for i := 0; i < len(s.code); {
		start := i
		switch c := s.code[i]; {
		case c == filler:
			for i < len(s.code) && (s.code[i] == filler || s.code[i] == '\n' && i+1 < len(s.code) && s.code[i+1] == filler) {
				i++
			}
			all = append(all, token{tokenString, s.text[start:i]})
		case c >= '0' && c <= '9':
			for i < len(s.code) && (wordByte(s.code[i]) || s.code[i] == '.') {
				i++
			}
			all = append(all, token{tokenNumber, s.code[start:i]})
		case wordByte(c):
			for i < len(s.code) && wordByte(s.code[i]) {
				i++
			}
			kind := tokenWord
			if i < len(s.code) && (s.code[i] == '(' || s.code[i] == '!') {
				kind = tokenCall
			}
			all = append(all, token{kind, s.code[start:i]})
		default:
			i++
		}
	}
	return all
}

func wordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// bag counts things.
type bag map[string]int

func bagOf(s source, kinds ...tokenKind) bag {
	b := bag{}
	for _, t := range tokens(s) {
		for _, k := range kinds {
			if t.kind == k {
				b[t.text]++
			}
		}
	}
	return b
}

// share is the part of the different things of b that are in other too; 1 for
// an empty b.
func (b bag) share(other bag) float64 {
	if len(b) == 0 {
		return 1
	}
	common := 0
	for text := range b {
		if other[text] > 0 {
			common++
		}
	}
	return float64(common) / float64(len(b))
}

// similarity is 1 for bags with the same things, 0 for nothing in common.
func similarity(a, b bag) float64 {
	common, all := 0, 0
	for text, n := range a {
		common += min(n, b[text])
		all += max(n, b[text])
	}
	for text, n := range b {
		if a[text] == 0 {
			all += n
		}
	}
	if all == 0 {
		return 0
	}
	return float64(common) / float64(all)
}

func words(s source) bag { return bagOf(s, tokenWord, tokenCall, tokenNumber, tokenString) }

func literals(s source) bag { return bagOf(s, tokenNumber, tokenString) }
