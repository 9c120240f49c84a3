package audit

import (
	"fmt"
	"regexp"
	"slices"

	"ralph/logs/lazy"
	"ralph/logs/termtext"
	"ralph/runner/git"
)

// Repository is what a turn did to the repository, beside files and commits.
type Repository struct {
	Lost []git.Lost // that was there and is gone
	// Moved are the branches and tags that the turn made, moved or deleted, beside the branch that is checked out.
	Moved []string
	Head  []string // what became of HEAD, if the turn left it on no branch or on another one
	// Operation is the one in progress, such as "merge"; Unmerged are files with conflicts that are not resolved.
	Operation string
	Unmerged  []string
	Conflicts []string // files with the markers of a conflict that was not there before
	// Scratch is true in a folder of ralph's own: it ends the operation itself, and only the work is not finished.
	Scratch bool
}

// vanished finds what is gone from the repository, and what the turn left unfinished.
func (in Input) vanished() []Finding {
	var found []Finding
	text := in.allText()
	for _, l := range in.Lost {
		if !AsksForLoss(text, l) {
			found = append(found, Finding{Kind: KindLost, Text: l.Text, Doubt: l.Harmless})
		}
	}
	for _, text := range in.Head {
		found = append(found, Finding{Kind: KindHead, Text: text})
	}
	if what := in.unfinished(); what != "" {
		found = append(found, Finding{Kind: KindUnfinished, Doubt: in.Scratch, Text: what})
	}
	for _, file := range in.Conflicts {
		if !slices.Contains(in.Unmerged, file) {
			found = append(found, Finding{Kind: KindUnfinished, File: file, Text: "it has conflict markers that were not there before"})
		}
	}
	return found
}

// unfinished says what is in progress, and how to end it; empty: nothing.
func (in Input) unfinished() string {
	conflicts := ""
	if len(in.Unmerged) > 0 {
		conflicts = "conflicts are not resolved in " + termtext.Some(in.Unmerged, 5)
	}
	switch o := in.Operation; o {
	case "":
		return conflicts
	case "bisect":
		return "a bisect is in progress: end it with git bisect reset"
	default:
		text := fmt.Sprintf("a %s is in progress: finish it, or abort it with git %[1]s --abort", o)
		if conflicts != "" {
			text += "; " + conflicts
		}
		return text
	}
}

// removal matches a task that asks to remove something.
var removal = lazy.Regexp(`(?i)\b(delet|remov|drop|renam|prun|clean|clear|merg|squash|get rid|tidy|move)\w*\b`)

// AsksForLoss reports whether a task asks to remove the branch or tag that is gone.
func AsksForLoss(text string, l git.Lost) bool {
	named := l.What == git.LostBranch || l.What == git.LostTag || l.What == git.LostCommits && l.Gone
	return named && removal().MatchString(text) && namesRef(text, l.Name)
}

var gitCommands = lazy.Regexp(`\bgit\b.*\b(?:(stash (?:drop|pop|clear))|(worktree (?:remove|prune))|branch|tag|update-ref|` +
	`push|fetch|reset|rebase|checkout|switch|remote)\b`)

// Removes reports whether a shell command may have removed what is gone.
func Removes(command string, l git.Lost) bool {
	m := gitCommands().FindStringSubmatch(command)
	switch {
	case m == nil:
		return false
	case l.What == git.LostStash:
		return m[1] != ""
	case l.What == git.LostWorktree:
		return m[2] != ""
	}
	return namesRef(command, l.Name)
}

func namesRef(text, name string) bool {
	named, err := regexp.Compile(`(?:^|[^\w/-])` + regexp.QuoteMeta(name) + `(?:$|[^\w/-])`)
	return err == nil && named.MatchString(text)
}

var (
	forRefs   = lazy.Regexp(`(?i)\b(?:branch|tag|merg|rebas|cherry-?pick|squash)`)
	newBranch = lazy.Regexp(`(?i)\b(?:new|own|separate|feature|topic|other) branch\b`)
)

// asksForRef reports whether the work of a task may be on, or be, the branch or tag of this name.
func asksForRef(text, name string) bool {
	return newBranch().MatchString(text) || forRefs().MatchString(text) && namesRef(text, name)
}
