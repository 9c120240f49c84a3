// Package leaks has texts with made-up secrets, as agents print them, and finds what is left of a secret in a log.
// The secrets are made at run time: no file has text that a scanner would take for a key.
package leaks

import (
	_ "embed"
	"hash/fnv"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed shapes.txt
var shapes string

// Shape is a text with one secret or more.
type Shape struct {
	Name string
	Text string
	// Ambiguous texts do not tell that they have a secret.
	Ambiguous bool
	// parts are the random parts of the secrets, words the text around the secrets.
	parts, words []string
}

// Shapes returns the shapes of shapes.txt, the same ones each time.
func Shapes() []Shape {
	var all []Shape
	for line := range strings.Lines(shapes) {
		name, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || strings.HasPrefix(name, "#") {
			continue
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(name))
		s := Shape{Name: strings.TrimPrefix(name, "?"), Ambiguous: name[0] == '?'}
		s.fill(strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t").Replace(text), rand.New(rand.NewPCG(h.Sum64(), 7)))
		all = append(all, s)
	}
	return all
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

var (
	random  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([alUhHd2bus]):(\d+)\}`) })
	classes = map[string]string{"a": lower + upper + digits, "l": lower + digits, "U": upper + digits,
		"h": "0123456789abcdef", "H": "0123456789ABCDEF", "d": digits, "2": upper + "234567", "b": lower + upper + digits + "+/",
		"u": lower + upper + digits + "-_", "s": lower + upper + digits + "!#%+-.=?@^_~*"}
)

// fill makes the text of a template.
func (s *Shape) fill(template string, r *rand.Rand) {
	draw := func(m string) string {
		class, count, _ := strings.Cut(m[1:len(m)-1], ":")
		n, _ := strconv.Atoi(count)
		for {
			made := make([]byte, n)
			for i := range made {
				made[i] = classes[class][r.IntN(len(classes[class]))]
			}
			text := string(made)
			isWord := strings.IndexByte("abus", class[0]) >= 0 && !strings.ContainsAny(text, digits)
			if !isWord && strings.IndexByte("-_+/.=", text[0]) < 0 && strings.Trim(text[n-1:], "-_.+/=!?,") != "" {
				return text
			}
		}
	}
	rest := template
	for {
		before, after, found := strings.Cut(rest, "[[")
		before = random().ReplaceAllStringFunc(before, draw)
		s.words = append(s.words, before)
		s.Text += before
		if !found {
			return
		}
		secret, after, _ := strings.Cut(after, "]]")
		secret = random().ReplaceAllStringFunc(secret, func(m string) string {
			made := draw(m)
			s.parts = append(s.parts, made)
			return made
		})
		if !strings.Contains(template, "{") {
			s.parts = append(s.parts, secret)
		}
		s.Text += secret
		rest = after
	}
}

// least is the length of the shortest end of a secret that counts as a leak.
const least = 8

// Leaked returns a part of the secret that a log shows; "" if it shows none.
func (s Shape) Leaked(log string) string {
	for _, part := range s.parts {
		if len(part) >= least && strings.Contains(log, part[len(part)-least:]) {
			return part
		}
	}
	return ""
}

// Lost returns words around the secrets that a log of the text alone no longer shows; "" if it shows all.
func (s Shape) Lost(log string) string {
	for _, words := range s.words {
		i := strings.Index(log, words)
		if i < 0 {
			return words
		}
		log = log[i+len(words):]
	}
	return ""
}
