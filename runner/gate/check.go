package gate

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"ralph/runner/gate/report"
)

// Kind is what a check does. Fast kinds run first.
type Kind string

// The kinds, in the order in which they run.
const (
	KindLintFast Kind = "lint-fast"
	KindBuild    Kind = "build"
	KindTest     Kind = "test" // also the meaning of ""
	KindLint     Kind = "lint"
)

// OnFailure is what the run does about a failed check.
type OnFailure string

// The values of OnFailure.
const (
	Retry     OnFailure = "retry"      // tell the agent and continue the task; also the meaning of ""
	Warn      OnFailure = "warn"       // tell the user; block nothing
	BlockTask OnFailure = "block_task" // block the task immediately
	Stop      OnFailure = "stop"       // end the run
)

// maxTimeout is longer than any check needs, and still ends one that hangs.
const maxTimeout = 24 * time.Hour

// Check is one command that has to succeed. Only Name and Command are needed.
type Check struct {
	Name    string `json:"name"`    // unique among the checks of a project
	Command string `json:"command"` // for sh -c, in Dir
	Kind    Kind   `json:"kind,omitempty"`
	Dir     string `json:"dir,omitempty"` // relative to the project; empty: the project itself
	// When has path globs, relative to the project: the check runs only when a
	// changed file matches one. ** matches any number of folders; a glob without a
	// slash matches a name in any folder. Empty: it always runs.
	When      []string      `json:"when,omitempty"`
	Optional  bool          `json:"optional,omitempty"` // a failure is shown, but blocks nothing
	OnFailure OnFailure     `json:"on_failure,omitempty"`
	Timeout   time.Duration `json:"timeout_ns,omitempty"` // 0: 10 minutes
	Format    report.Format `json:"format,omitempty"`     // empty: detected for tests, not read for other kinds
	// JUnit is a glob, relative to Dir, of the JUnit XML files that the command
	// writes; empty: none.
	JUnit string `json:"junit,omitempty"`
}

// Validate returns a one-line error that names the check and what is wrong with it.
func (c Check) Validate() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("check %q: %s", c.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case strings.TrimSpace(c.Name) == "":
		return fmt.Errorf("check with command %q: it needs a name", c.Command)
	case strings.ContainsFunc(c.Name, unicode.IsControl) || len(c.Name) > 80:
		return fail("the name must be one line of at most 80 bytes")
	case strings.TrimSpace(c.Command) == "":
		return fail("it needs a command")
	case strings.ContainsRune(c.Command, 0):
		return fail("the command has a zero byte")
	case c.Kind != "" && !slices.Contains(kinds(), c.Kind):
		return fail("unknown kind %q; known: %s", c.Kind, list(kinds()))
	case c.OnFailure != "" && !slices.Contains(onFailures(), c.OnFailure):
		return fail("unknown on_failure %q; known: %s", c.OnFailure, list(onFailures()))
	case c.Format != "" && !slices.Contains(report.Formats(), c.Format):
		return fail("unknown format %q; known: %s", c.Format, list(report.Formats()))
	case c.Timeout < 0 || c.Timeout > maxTimeout:
		return fail("timeout %s is not allowed: 0s to %s", c.Timeout, maxTimeout)
	case c.Dir != "" && !filepath.IsLocal(c.Dir):
		return fail("folder %q is not inside the project", c.Dir)
	case c.JUnit != "" && (!filepath.IsLocal(c.JUnit) || badGlob(c.JUnit)):
		return fail("junit %q is not a path glob inside its folder", c.JUnit)
	}
	for _, glob := range c.When {
		if glob == "" || badGlob(glob) {
			return fail("when %q is not a path glob", glob)
		}
	}
	return nil
}

func kinds() []Kind           { return []Kind{KindLintFast, KindBuild, KindTest, KindLint} }
func onFailures() []OnFailure { return []OnFailure{Retry, Warn, BlockTask, Stop} }

func list[T ~string](values []T) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(values), " ", ", "), "[]")
}

// Required reports whether a failure can block.
func (c Check) Required() bool { return !c.Optional && c.OnFailure != Warn }

// Reproduce returns the command line that runs the check from the project's folder.
func (c Check) Reproduce() string {
	if c.Dir == "" || c.Dir == "." {
		return c.Command
	}
	dir, _ := syntax.Quote(c.Dir, syntax.LangBash) // fails only for a null byte
	return fmt.Sprintf("(cd %s && %s)", dir, c.Command)
}

// Program returns the first word of a command that is one plain call, without variables of its own; else an empty text.
func (c Check) Program() string {
	call, ok := plainCall(c.Command)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 {
		return ""
	}
	return call.Args[0].Lit()
}

// ordered sorts the checks by kind and keeps their order within a kind.
func ordered(checks []Check) []Check {
	rank := func(c Check) int { return slices.Index(kinds(), cmp.Or(c.Kind, KindTest)) }
	checks = slices.Clone(checks)
	sort.SliceStable(checks, func(i, j int) bool { return rank(checks[i]) < rank(checks[j]) })
	return checks
}
