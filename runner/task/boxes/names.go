package boxes

import (
	"fmt"
	"slices"
	"strings"

	"ralph/runner/task"
)

// leadingID returns the task number at the start of a title: "T3: ...", "**US-001** ...",
// "[T3] ...", "T-3 - ...", and bare ones of three digits. It uses no regexp: with 20,000 titles,
// that would take longer than everything else.
func leadingID(title string) string {
	text, bold := cutBold(title)
	if bold {
		id, rest := cutID(strings.TrimPrefix(text, "["))
		if _, ends := cutBold(strings.TrimLeft(rest, "]:.")); id != "" && ends {
			return id
		}
	} else if text != "" && strings.IndexByte("`[(", text[0]) >= 0 {
		end := "])"
		if text[0] == '`' {
			end = "`"
		}
		if id, rest := cutID(text[1:]); rest != "" && strings.IndexByte(end, rest[0]) >= 0 {
			return id
		}
		return ""
	}
	id, rest := cutID(text)
	switch after := strings.TrimLeft(rest, " "); {
	case id == "":
	case strings.HasPrefix(rest, ": "), rest != after && slices.ContainsFunc([]string{"- ", "– ", "— "}, func(dash string) bool { return strings.HasPrefix(after, dash) }),
		!bold && rest != after && isBare(id):
		return id
	}
	return ""
}

func cutBold(text string) (rest string, bold bool) {
	if rest, bold = strings.CutPrefix(text, "**"); bold {
		return rest, true
	}
	return strings.CutPrefix(text, "__")
}

// cutID cuts a task number off the start of a text: up to twelve letters and a number, with
// more numbers after a dot or dash.
func cutID(text string) (id, rest string) {
	n := span(text, isLetter)
	if n == 0 || n > 12 {
		return "", text
	}
	if n < len(text) && (text[n] == '-' || text[n] == '_') {
		n++
	}
	digits := span(text[n:], isDigit)
	if digits == 0 {
		return "", text
	}
	n += digits
	for n+1 < len(text) && (text[n] == '.' || text[n] == '-') && isDigit(text[n+1]) {
		n += 1 + span(text[n+1:], isDigit)
	}
	return text[:n], text[n:]
}

// isBare reports whether an id needs no punctuation around it: T001, US-0012.
func isBare(id string) bool {
	letters := strings.TrimRight(id, "0123456789")
	capitals := strings.TrimSuffix(letters, "-")
	return len(id)-len(letters) >= 3 && capitals != "" && strings.ToUpper(capitals) == capitals &&
		span(capitals, isLetter) == len(capitals)
}

// span returns how many bytes at the start of a text are of a kind.
func span(text string, is func(byte) bool) int {
	n := 0
	for n < len(text) && is(text[n]) {
		n++
	}
	return n
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// nameTasks sets the ID of every task. It does not use a leading number that several
// tasks share. It returns the numbers.
func nameTasks(tasks []task.Task, own func(title string) string) (numbers []string) {
	uses, seen := make(map[string]int, len(tasks)), make(map[string]int, len(tasks))
	numbers = make([]string, len(tasks))
	for i := range tasks {
		numbers[i] = own(tasks[i].Title)
		uses[numbers[i]]++
	}
	for i := range tasks {
		id := numbers[i]
		if id == "" || uses[id] > 1 {
			id = task.Hash(tasks[i].Title)
		}
		seen[id]++
		if seen[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, seen[id])
		}
		tasks[i].ID = id
	}
	return numbers
}
