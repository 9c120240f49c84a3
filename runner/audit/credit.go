package audit

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"ralph/logs/lazy"
	"ralph/runner/task"
)

// What connects a change to a task, the strongest first.
const (
	ByTests    = "tests"   // tests that the task is about were red, and pass now
	ByFiles    = "files"   // the task names the changed file
	ByNames    = "names"   // the change brought or removed names of code, or a text, that the task names
	ByWords    = "words"   // the change has the words of the task
	ByRefs     = "refs"    // the task asks for the branch or tag that was made, moved or deleted
	ByTurn     = "turn"    // the change was made while the task was assigned
	ByConfirm  = "confirm" // an agent ticked the task, and a later turn checked that it is done
	linkTexts  = 5         // names that Link.What lists at the most
	mostTitles = 12        // words of a title that count
)

// Link connects the change of a turn to a task: a reason to believe that the turn did its work.
type Link struct {
	Task string `json:"task"` // id
	By   string `json:"by"`   // one of the constants above
	What string `json:"what"` // the tests, files, names or words; empty for ByTurn
}

// Links returns what connects a change to the tasks that were open before it: at most one Link for each, the
// strongest. green are the tests that were red before the change and pass now.
func Links(in Input, green []string) (all []Link) {
	if in.Unchanged && len(green)+len(in.Moved) == 0 {
		return nil
	}
	noProse := in.code()
	mixed := len(noProse.Files) < len(in.Files)
	brought, code := in.brought(), noProse.brought()
	done := map[string]bool{}
	for _, t := range in.PlanBefore {
		done[t.ID] = t.Done()
	}
	for _, t := range in.PlanAfter {
		if t.State == task.Dropped || done[t.ID] {
			continue
		}
		of, words := in, brought
		if mixed && !AsksForProse(TextOf(t)) {
			of, words = noProse, code
		}
		if by, what := of.link(t, green, words, in.Files); by != "" {
			all = append(all, Link{t.ID, by, strings.Join(what[:min(linkTexts, len(what))], ", ")})
		}
	}
	return all
}

// link looks for names in the Files of in; a task may name any of all.
func (in Input) link(t task.Task, green []string, brought map[string]bool, all []File) (by string, what []string) {
	text := TextOf(t)
	for _, test := range green {
		if About(test, text) {
			what = append(what, test)
		}
	}
	if len(what) > 0 {
		return ByTests, what
	}
	for _, f := range all {
		base := path.Base(f.Path)
		stem, ext, _ := strings.Cut(base, ".")
		page := ext == "md" && strings.ToUpper(stem) == stem // "describe it in the README"
		if HasName(text, f.Path) || ext != "" && HasName(text, base) || page && HasName(text, stem) {
			what = append(what, f.Path)
		}
	}
	if len(what) > 0 {
		return ByFiles, what
	}
	for _, name := range in.Moved {
		if asksForRef(text, name) {
			what = append(what, name)
		}
	}
	if len(what) > 0 {
		return ByRefs, what
	}
	for _, name := range slices.Concat(NamesOf(text), quotedNames(text), camel().FindAllString(text, -1), version().FindAllString(text, -1)) {
		if slices.ContainsFunc(in.Files, func(f File) bool {
			return HasName(f.Path+"\n"+f.After, name) != HasName(f.Path+"\n"+f.Before, name)
		}) {
			what = append(what, name)
		}
	}
	for _, phrase := range phrasesOf(text) {
		if slices.ContainsFunc(in.Files, func(f File) bool {
			return strings.Count(f.Before, phrase) != strings.Count(f.After, phrase)
		}) {
			what = append(what, phrase)
		}
	}
	if len(what) > 0 {
		return ByNames, what
	}
	title := stems(t.Title)
	for _, word := range title[:min(mostTitles, len(title))] {
		if brought[word] {
			what = append(what, word)
		}
	}
	if len(what) > 0 && (len(what) == len(title) || len(what) >= 2 && 5*len(what) >= 3*len(title)) {
		return ByWords, what
	}
	return "", nil
}

// brought has the words of all lines that a change added or removed, and of the paths of its files.
func (in Input) brought() map[string]bool {
	all := map[string]bool{}
	add := func(text string) {
		for _, w := range stems(text) {
			all[w] = true
		}
	}
	for _, f := range in.Files {
		add(f.Path)
		before, after := lines(f.Before), lines(f.After)
		was, is := map[string]bool{}, map[string]bool{}
		for _, l := range before {
			was[l] = true
		}
		for _, l := range after {
			if is[l] = true; !was[l] {
				add(l)
			}
		}
		for _, l := range before {
			if !is[l] {
				add(l)
			}
		}
	}
	return all
}

// About reports whether a test is about a text: the text names it, or says all of its words.
func About(test, text string) bool {
	short := test
	if i := strings.LastIndexAny(strings.TrimRight(test, ":/> "), "/:>"); i >= 0 {
		short = strings.TrimSpace(test[i+1:])
	}
	if short == "" {
		return false
	}
	has := map[string]bool{}
	for _, w := range stems(text) {
		has[w] = true
	}
	words := stems(short)
	if len(words) == 1 && len(has) > 2 { // one plain word says little: "open"
		return HasName(text, test) && test != short || HasName(text, "test: "+short) || strings.Contains(text, "`"+short+"`") ||
			strings.ContainsAny(short, "_") && HasName(text, short) || slices.Contains(NamesOf(text), short)
	}
	if HasName(text, test) || HasName(text, short) {
		return true
	}
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !has[w] })
}

// fillers are words that connect nothing.
var fillers = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields("the and for with that this from into its not are was has have all any one two new " +
		"add make use write fix support implement create update change test tests should must can when then than " +
		"function method class file code task work also only after before each return returns value values") {
		all[stem(w)] = true
	}
	return all
})

var version = lazy.Regexp(`\b\d+\.\d+\.\d+\b`)

var token = lazy.Regexp(`\p{L}[\p{L}\p{N}]*|\p{N}+\p{L}+`)

// stems returns the words of a text that say something, each once: in lower case, without endings, and with names
// of code taken apart.
func stems(text string) (all []string) {
	for _, w := range token().FindAllString(text, -1) {
		for _, part := range humps(w) {
			if len([]rune(part)) < 3 {
				continue
			}
			if s := stem(strings.ToLower(part)); !fillers()[s] && !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// humps takes a name like toJSONText apart.
func humps(name string) (parts []string) {
	runes, start := []rune(name), 0
	for i := 1; i < len(runes); i++ {
		begins := unicode.IsUpper(runes[i]) &&
			(unicode.IsLower(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			parts, start = append(parts, string(runes[start:i])), i
		}
	}
	return append(parts, string(runes[start:]))
}

// stem cuts common endings, so that "exports" and "exporting" are "export".
func stem(word string) string {
	for _, end := range []string{"ing", "ies", "ed", "es", "s", "e", "y"} {
		if rest, ok := strings.CutSuffix(word, end); ok && len(rest) >= 3 {
			return rest
		}
	}
	return word
}

// Tick is a task that became done between two versions of a plan.
type Tick struct {
	task.Task
	// Own is true for the selected task, those below it, and a parent of which nothing else is open.
	Own bool
	// Parts is true if boxes below it are open.
	Parts bool
	// Named are the names of code that the task says, if no changed file has or had one of them; nil: one has. Of names
	// that it asks for by a verb, they are those that no changed file has.
	Named []string
}

// Ticks returns the tasks that became done, in the words of the later plan.
func Ticks(in Input) (all []Tick) {
	pairs, _ := pairTasks(in.PlanBefore, in.PlanAfter)
	for i, t := range in.PlanAfter {
		before, known := pairs[i]
		if !known || before.Done() || !t.Done() {
			continue
		}
		own := in.Task == "" || before.ID == in.Task || closesItself(in, i, pairs) || belongs(in, i, pairs)
		all = append(all, Tick{t, own, open(in.PlanAfter, i), in.named(t)})
	}
	return all
}

// open reports whether a box below box i is open.
func open(tasks []task.Task, i int) bool {
	for _, t := range tasks[i+1:] {
		if t.Depth <= tasks[i].Depth {
			return false
		}
		if t.Pending() && !t.Optional {
			return true
		}
	}
	return false
}

// code is the input without texts for people: what they say is no work for a task that asks for something else.
func (in Input) code() Input {
	in.Files = slices.DeleteFunc(slices.Clone(in.Files), func(f File) bool { return isProse(f.Path) })
	return in
}

func isProse(name string) bool {
	base := strings.ToLower(path.Base(name))
	return slices.Contains([]string{".md", ".markdown", ".rst", ".adoc", ".txt"}, path.Ext(base)) &&
		!strings.HasPrefix(base, "requirements") && base != "cmakelists.txt"
}

var prose = lazy.Regexp(`(?i)readme|change ?log|\b(?:docs?\b|document|describ|descri|explain|page|guide|manual|handbook|runbook|` +
	`report|summar|notes?\b|texts?\b|tutorial|investigat|licen[cs]e|wording|typo|translat|mention)|\.(?:md|rst|adoc|txt)\b`)

// AsksForProse reports whether a task may ask for documentation or another text for people.
func AsksForProse(task string) bool { return prose().MatchString(task) }

var (
	source = lazy.Regexp(`[\w./-]*\w\.(?:[cm]?[jt]sx?|py|go|rs|sh|rb|java|kt)\b`)
	branch = lazy.Regexp(`(?i)\bbranch`)
	// translation matches a task after which no text may be a copy of another one.
	translation = lazy.Regexp(`(?i)\btranslat`)
	address     = lazy.Regexp(`\w+://\S+`)
)

// Translations returns the paths of the files that a task asks to translate a text into.
func Translations(text string) []string {
	if !translation().MatchString(text) {
		return nil
	}
	return PathsIn(text)
}

// sources are the names of the files of code that a task wants, without their folders: none, if it wants files gone, moved
// or on a branch. "node.js" without a folder is no file.
func sources(text string) (all []string) {
	if text = address().ReplaceAllString(text, ""); removal().MatchString(text) || asksForRemoval(text) || branch().MatchString(text) {
		return nil
	}
	for _, name := range source().FindAllString(text, -1) {
		if strings.Contains(name, "/") || !strings.HasSuffix(name, "js") {
			all = append(all, path.Base(name))
		}
	}
	return all
}

// gone matches a sentence that begins with the wish to remove something: what it names may be nowhere.
var gone = lazy.Regexp(`(?i)^(?:[^:]*:)?[\W\d]*(?:remove|delete|drop|retire|prune|get rid of)\**\s`)

func (in Input) named(t task.Task) []string {
	text := TextOf(t)
	wanted := slices.DeleteFunc(taskPhrases().end.Split(text, -1), gone().MatchString)
	known := NamesOf(strings.Join(wanted, "\n"))
	if !AsksForProse(text) {
		in = in.code()
	}
	if len(known) == 0 {
		known = sources(text)
	}
	missing := func(name string) bool {
		return !slices.ContainsFunc(in.Files, func(f File) bool { return HasName(f.Path+"\n"+f.Before+"\n"+f.After, name) })
	}
	asked := namesAsked(strings.Join(wanted, "\n"))
	if asked = slices.DeleteFunc(asked, func(name string) bool { return !missing(name) }); len(asked) > 0 && !asksForRemoval(text) {
		known = asked
	}
	if in.Partial || slices.ContainsFunc(known, func(name string) bool { return !missing(name) }) {
		return nil
	}
	return known
}

// NothingChanged is why a tick is not earned while the run has changed nothing.
const NothingChanged = "this run has changed no file"

// TickWithoutWork is the finding for a tick that no work has earned.
func TickWithoutWork(t task.Task, why string) Finding {
	return Finding{Kind: KindTickWithoutWork, Task: t.ID, Text: fmt.Sprintf("the task %q was ticked, and %s", t.Title, why),
		Revert: true}
}
