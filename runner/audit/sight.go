package audit

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

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
			if name, err := syntax.Quote(h.File, syntax.LangBash); err == nil {
				f.Show = "cat " + name
			}
			f.Doubt = in.excused(f.Kind) || strings.Contains(strings.Join(in.tasks(), ""), path.Base(h.File))
			found = append(found, f)
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
