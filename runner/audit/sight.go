package audit

import (
	"fmt"
	"maps"
	"slices"

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
		cause := "marked " + h.Flag
		if h.Flag == "" && languageOf(h.File) == nil {
			continue
		}
		if h.Flag == "" {
			cause = fmt.Sprintf("hidden by the new rule %q in %s", h.Rule, h.Place)
		}
		by[cause] = append(by[cause], h.File)
	}
	for _, f := range in.Files {
		for _, text := range in.tasks() {
			if rule, file := hiddenRule(f.Path, f.Before, f.After, text); file != "" &&
				!slices.ContainsFunc(in.Files, func(f File) bool { return f.Path == file }) {
				cause := fmt.Sprintf("hidden by the new rule %q in %s", rule, f.Path)
				by[cause] = append(by[cause], file)
			}
		}
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
