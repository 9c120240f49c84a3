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
	"ralph/runner/git"
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
			if name, err := syntax.Quote(h.File, syntax.LangBash); err == nil {
				f.Show = "cat " + name
			}
			f.Doubt = in.excused(f.Kind) || strings.Contains(strings.Join(in.tasks(), ""), path.Base(h.File))
			found = append(found, f)
			continue
		}
		cause := "marked " + h.Flag
		if h.Untracked {
			if in.needsIgnored(h) {
				add(KindHidden, "the change needs %s, which the new rule %q in %s keeps out of git: a clone will not have it", h.File, h.Rule, h.Place)
			}
			continue
		}
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
var ignoring = sync.OnceValue(func() (p struct{ output, asked, imports *regexp.Regexp }) {
	p.output = regexp.MustCompile(`(?i)(?:^|/)(?:\.[^/]*|dist|build|out|target|bin|obj|node_modules|vendor|venv|env|gen|generated|coverage|te?mp|` +
		`__pycache__|[^/]*(?:_pb2?|\.pb|\.gen|_gen|_generated|\.min)[^/]*|_?version\.\w+|[^/]*(?:local|secret|credential|env|config)[^/]*\.\w+)(?:/|$)`)
	p.asked = regexp.MustCompile(`(?i)ignor|exclud|untrack|generat|build|compil|artifact|bundle|secret|credential|config|settings|\blocal`)
	p.imports = regexp.MustCompile(`^\s*(?:(?:from|import|export|require\w*|use|mod|include|source|load)\b|[.#]\s*(?:include\b|["./\w])|` +
		`.*\b(?:require|import)\()`)
	return p
})

// needsIgnored reports whether code of the change imports code that a new rule hides. What the project makes does not
// count: the output of a tool, which some line beside imports names, and what the task wants to be ignored.
func (in Input) needsIgnored(h git.HiddenFile) bool {
	p, name := ignoring(), strings.TrimSuffix(h.File, "/")
	base, _, _ := strings.Cut(path.Base(name), ".")
	isNew := func(f File) bool {
		return f.Path == h.Place && slices.Contains(lines(f.After), h.Rule) && !slices.Contains(lines(f.Before), h.Rule)
	}
	if p.output.MatchString(name) || name == h.File && !paths().code.MatchString(name) ||
		p.asked.MatchString(strings.Join(in.tasks(), "")) || !slices.ContainsFunc(in.Files, isNew) {
		return false
	}
	needed, stem := false, strings.TrimSuffix(name, path.Ext(name))
	for _, f := range in.Files {
		if f.Exists && name == h.File && strings.TrimSuffix(f.Path, path.Ext(f.Path)) == stem {
			return false // it is compiled from this one
		}
		for _, line := range lines(f.After) {
			switch {
			case path.Base(f.Path) == ".gitignore" || isProse(f.Path) || !HasName(line, base):
			case p.imports.MatchString(line):
				needed = needed || paths().code.MatchString(f.Path)
			default:
				return false
			}
		}
	}
	return needed
}
