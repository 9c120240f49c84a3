package audit

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"ralph/logs/termtext"
)

// sight finds what the audit cannot see, or what git does not show any more.
func (in Input) sight() []Finding {
	var found []Finding
	add := func(kind Kind, format string, args ...any) {
		found = append(found, Finding{Kind: kind, Doubt: kind == KindNotAudited, Text: fmt.Sprintf(format, args...)})
	}
	by := map[string][]string{} // files, by what hides them
	for _, h := range in.Hidden {
		if h.StandIn {
			f := Finding{Kind: KindChecksChanged, File: h.File, Text: "it decides how tests run, and git does not show it"}
			if h.OnPath {
				f.Text = "a check finds it on PATH before the program of that name"
			}
			if name, err := syntax.Quote(h.File, syntax.LangBash); err == nil {
				f.Show = "cat " + name
			}
			f.Doubt = in.excused(f.Kind) || strings.Contains(strings.Join(in.tasks(), ""), path.Base(h.File))
			found = append(found, f)
			continue
		}
		if h.Needed {
			add(KindHidden, "the change needs %s, which git ignores: a clone will not have it", h.File)
			continue
		}
		cause := "marked " + h.Flag
		if h.Flag == "" && languageOf(h.File) == nil {
			continue
		}
		if h.Flag == "" {
			cause = fmt.Sprintf("hidden by the new rule %q in %s", h.Rule, h.Place)
		}
		by[cause] = append(by[cause], h.File)
	}
	for _, cause := range slices.Sorted(maps.Keys(by)) {
		add(KindHidden, "git does not show changes of these files any more, %s: %s", cause, termtext.Some(by[cause], 5))
	}
	if len(in.Discarded) > 0 {
		add(KindDiscarded, "your uncommitted changes in %s are gone; to restore them: %s", termtext.Some(in.Discarded, 5), in.Restore)
	}
	if in.Listed < in.Count {
		add(KindNotAudited, "audited %s of %s files", termtext.Thousands(int64(in.Listed)), termtext.Thousands(int64(in.Count)))
	}
	if len(in.Large) > 0 {
		add(KindNotAudited, "not audited, above 1 MiB: %s", termtext.Some(in.Large, 5))
	}
	return found
}

// ignoring are patterns for what git may ignore although code needs it.
var ignoring = sync.OnceValue(func() (p struct{ made, asked, imports, calls *regexp.Regexp }) {
	const calls = `\b(?:require|import|import_module)\([^)]*\)`
	p.made = regexp.MustCompile(`(?i)(?:^|/)(?:gen|generated|[^/]*(?:_pb2?|\.pb|\.gen|_gen|_generated|\.min)[^/]*|_?version\.\w+|` +
		`[^/]*(?:local|secret|credential|env|config)[^/]*\.\w+)(?:/|$)`)
	p.asked = regexp.MustCompile(`(?i)ignor|exclud|untrack|generat|build|compil|artifact|bundle|secret|credential|config|settings|\blocal`)
	p.calls = regexp.MustCompile(calls + `|.*\bsys\.path\b.*`)
	p.imports = regexp.MustCompile(`^\s*(?:(?:from|import|export|require\w*|use|mod|include|source|load)\b[^(]|[.#]\s*include\b|\.\s+["./$\w]|` +
		`.*` + calls + `|(?:\w+ )?"[\w./-]+/[\w-]+"$)`)
	return p
})

// NewImports returns the words of the lines with which changed code imports something for the first time, each with its files.
// What the tasks want to be made by a tool does not count.
func (in Input) NewImports() map[string][]string {
	all := map[string][]string{}
	for _, f := range in.Files {
		if !paths().code.MatchString(f.Path) || ignoring().asked.MatchString(strings.Join(in.tasks(), "")) {
			continue
		}
		for _, line := range Without(lines(f.After), lines(f.Before)) {
			if ignoring().imports.MatchString(line) {
				for _, word := range regexp.MustCompile(`[\w-]+`).FindAllString(line, -1) {
					all[word] = append(all[word], f.Path)
				}
			}
		}
	}
	return all
}

// WrittenByHand reports whether code that git ignores, perhaps with its whole folder, is not the output of a tool: neither its
// name says so, nor a line beside imports that names it or the folder. texts are those of the files that may have such lines.
func WrittenByHand(file, folder string, texts map[string]string) bool {
	names := `\b` + regexp.QuoteMeta(path.Base(file)) + `\b`
	if folder != "" {
		names += `|(?:^|[\s"'=./])` + regexp.QuoteMeta(strings.TrimSuffix(folder, "/")) + `["'/]`
	}
	named := regexp.MustCompile(names)
	for other, text := range texts {
		code := paths().code.MatchString(other)
		for _, line := range lines(text) {
			if code {
				line = ignoring().calls.ReplaceAllString(line, "")
			}
			if named.MatchString(line) && !(code && ignoring().imports.MatchString(line)) && !strings.HasSuffix(other, "ignore") {
				return false
			}
		}
	}
	return paths().code.MatchString(file) && !ignoring().made.MatchString(file)
}
