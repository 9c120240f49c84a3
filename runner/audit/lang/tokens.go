package lang

import "strings"

// Kind is what a token is.
type Kind int

// The kinds of tokens.
const (
	Word Kind = iota
	Call      // a word before an opening bracket
	Number
	String
)

// Token is a word, a number or the inside of a string.
type Token struct {
	Kind Kind
	Text string
}

// Tokens are the words, numbers and strings of a Source, in order.
func Tokens(s Source) []Token {
	var all []Token
	for i := 0; i < len(s.Code); {
		start := i
		switch c := s.Code[i]; {
		case c == filler:
			for i < len(s.Code) && (s.Code[i] == filler || s.Code[i] == '\n' && i+1 < len(s.Code) && s.Code[i+1] == filler) {
				i++
			}
			all = append(all, Token{String, s.Text[start:i]})
			if inside := s.Text[start:i]; strings.Contains(inside, "\n") { // perhaps a table
				all = append(all, Tokens(Source{inside, inside})...)
			}
		case c >= '0' && c <= '9':
			for i < len(s.Code) && (wordByte(s.Code[i]) || s.Code[i] == '.') {
				i++
			}
			all = append(all, Token{Number, s.Code[start:i]})
		case wordByte(c):
			for i < len(s.Code) && wordByte(s.Code[i]) {
				i++
			}
			kind := Word
			if i < len(s.Code) && (s.Code[i] == '(' || s.Code[i] == '!') {
				kind = Call
			}
			all = append(all, Token{kind, s.Code[start:i]})
		default:
			i++
		}
	}
	return all
}

func wordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// Bag counts things.
type Bag map[string]int

// BagOf counts the tokens of some kinds.
func BagOf(s Source, kinds ...Kind) Bag {
	b := Bag{}
	for _, t := range Tokens(s) {
		for _, k := range kinds {
			if t.Kind == k {
				b[t.Text]++
			}
		}
	}
	return b
}

// Share is the part of the different things of b that are in other too; 1 for
// an empty b.
func (b Bag) Share(other Bag) float64 {
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

// Within says whether other has all that b has, as often.
func (b Bag) Within(other Bag) bool {
	for text, n := range b {
		if other[text] < n {
			return false
		}
	}
	return true
}

// Words counts all tokens.
func Words(s Source) Bag { return BagOf(s, Word, Call, Number, String) }

// Literals counts numbers and strings.
func Literals(s Source) Bag { return BagOf(s, Number, String) }
