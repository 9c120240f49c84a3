package stories

import (
	"strconv"
	"strings"
	"unicode"
)

// plainFront reads the front matter that nearly all files have: a key and a plain or quoted value, or a list
// of them, in each line. It returns false for everything else. The YAML library reads that, but takes ten times as
// long, and a folder may have thousands of files.
func plainFront(block string) (map[string]any, bool) {
	front, last := map[string]any{}, ""
	lines := strings.Split(strings.TrimRight(block, "\r\n"), "\n")
	if len(lines) < 3 {
		return nil, false
	}
	for _, line := range lines[1 : len(lines)-1] {
		line = strings.TrimSuffix(line, "\r")
		if item, is := strings.CutPrefix(line, "  - "); is && last != "" {
			value, ok := plainValue(item)
			list, more := front[last].([]any)
			if !ok || value == nil || !more && front[last] != nil {
				return nil, false
			}
			front[last] = append(list, value)
			continue
		}
		key, rest, ok := strings.Cut(line, ":")
		if _, twice := front[key]; !ok || twice || !plainKey(key) || rest != "" && rest[0] != ' ' {
			return nil, false
		}
		rest, last = strings.TrimPrefix(rest, " "), ""
		if rest == "" {
			front[key], last = nil, key
			continue
		}
		if front[key], ok = plainList(rest); !ok {
			if front[key], ok = plainValue(rest); !ok {
				return nil, false
			}
		}
	}
	return front, true
}

// plainList reads [a, b].
func plainList(text string) (any, bool) {
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		return nil, false
	}
	inside := text[1 : len(text)-1]
	list := []any{}
	if inside == "" {
		return list, true
	}
	for one := range strings.SplitSeq(inside, ",") {
		value, ok := plainValue(strings.TrimPrefix(one, " "))
		if !ok {
			return nil, false
		}
		list = append(list, value)
	}
	return list, true
}

// plainValue reads a value without special YAML syntax.
func plainValue(text string) (any, bool) {
	if text == "" || text[0] == ' ' || text[len(text)-1] == ' ' {
		return nil, false
	}
	if quote := text[0]; quote == '\'' || quote == '"' {
		inside := text[1:max(1, len(text)-1)]
		return inside, len(text) > 2 && text[len(text)-1] == quote &&
			!strings.ContainsFunc(inside, func(r rune) bool { return !inQuotes(r) })
	}
	if text[0] >= '1' && text[0] <= '9' && len(text) < 16 && strings.Trim(text, "0123456789") == "" {
		n, err := strconv.ParseUint(text, 10, 64)
		return n, err == nil
	}
	first := true
	for _, r := range text {
		if !unicode.IsLetter(r) && (first || !inPlain(r)) {
			return nil, false
		}
		first = false
	}
	return text, !special(text)
}

// special reports whether YAML may read a word as something other than text.
func special(word string) bool {
	switch strings.ToLower(word) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf":
		return true
	}
	return false
}

func plainKey(key string) bool {
	return key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") == "" && !special(key)
}

func inPlain(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune(" _./()-+", r) }

func inQuotes(r rune) bool {
	return unicode.IsLetter(r) || inPlain(r) || strings.ContainsRune(":,;!?&@=[]", r)
}
