package audit

import "strings"

const inlineMark = "#[cfg(test)]"

// Inline splits a text of Rust around its inline tests: what is before the first item that is marked #[cfg(test)], the
// text from there to the end of the last one, and what follows. Without tests, before is all of it.
func Inline(text string) (before, tests, after string) {
	from := strings.Index(text, inlineMark)
	if from < 0 {
		return text, "", ""
	}
	end := from
	for i := from; i >= 0; {
		end = i + itemEnd(text[i:])
		if i = strings.Index(text[end:], inlineMark); i >= 0 {
			i += end
		}
	}
	return text[:from], text[from:end], text[end:]
}

// productOf is a text of code without the items that are only built for tests, in Rust.
func productOf(text string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, inlineMark)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		text = text[i+itemEnd(text[i:]):]
	}
}

// itemEnd is the length of the item at the start of a text, with its attributes: up to the line that closes its braces.
// An item that is never closed has the whole text.
func itemEnd(text string) (n int) {
	depth := 0
	for line := range strings.Lines(text) {
		n += len(line)
		code := strings.TrimSpace(line)
		for strings.HasPrefix(code, "#[") { // attributes
			_, code, _ = strings.Cut(code, "]")
			code = strings.TrimSpace(strings.TrimLeft(code, ")]"))
		}
		depth += strings.Count(code, "{") - strings.Count(code, "}")
		if depth == 0 && code != "" && strings.ContainsAny(code[len(code)-1:], ";},") {
			return n
		}
	}
	return len(text)
}
