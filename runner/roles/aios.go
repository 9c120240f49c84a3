package roles

// This file has the conventions of AIOS projects between developer and reviewer: how each is called, what a review may
// write, its gate file, and the handoff between two calls.

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"ralph/runner/task"
	"ralph/state"
	"ralph/state/option"
	"ralph/state/projectfs"
)

// AIOSOptions is what a user can say about projects of AIOS.
type AIOSOptions struct {
	Enabled   string // auto, true or false
	QAEnabled bool
}

// Options are the rows of the option table that fill o.
func (o *AIOSOptions) Options() []option.Row {
	return []option.Row{{
		Group: "Review", Key: "AIOS_ENABLED", YAML: "aios.enabled",
		Kind: option.Enum, Default: "auto", Values: []string{"auto", "true", "false"}, Field: &o.Enabled,
		Help: "Follow the conventions of AIOS; auto means only if the project has .aios-core/ or .aiox-core/.",
	}, {
		Group: "Review", Key: "AIOS_QA_ENABLED", YAML: "aios.qa",
		Kind: option.Bool, Default: "true", Field: &o.QAEnabled,
		Help: "In AIOS projects, let @qa review each story.",
	}}
}

// In reports whether the project at dir is one of AIOS.
func (o AIOSOptions) In(dir string) bool {
	if o.Enabled == "false" || o.Enabled == "" {
		return false
	}
	return o.Enabled == "true" || slices.ContainsFunc([]string{".aios-core", ".aiox-core"}, func(name string) bool {
		info, err := projectfs.In(dir).Lstat(filepath.Join(dir, name))
		return err == nil && info.IsDir()
	})
}

// AIOSProject is what the conventions of a project ask for, as it was when the run began: what an agent does
// to the project's folders takes no review away.
type AIOSProject struct {
	AIOSOptions
	aios bool
}

const (
	// AIOSReports is the folder of what reviewers write, relative to the project.
	AIOSReports = "docs/qa"
	maxHandoff  = 1 << 20 // bytes
)

// At looks at the project in a folder.
func (o AIOSOptions) At(dir string) AIOSProject { return AIOSProject{o, o.In(dir)} }

// Story reports whether a task is a story of AIOS in a project of AIOS.
func (p AIOSProject) Story(t task.Task) bool {
	base := path.Base(t.File)
	return p.aios && (strings.HasSuffix(base, ".story.md") || strings.HasPrefix(base, "STORY-"))
}

// Asks reports whether the project wants a review of a task.
func (p AIOSProject) Asks(t task.Task) bool { return p.QAEnabled && p.Story(t) }

// IsGate reports whether a file of the project is a gate file of a story.
func IsGate(t task.Task, file string) bool {
	is, _ := path.Match(AIOSReports+"/gates/"+t.ID+"-*.y*ml", file)
	return is
}

// AiosDevelop is the head of the developer's prompt.
func AiosDevelop(t task.Task) string {
	return fmt.Sprintf("@dev\n*develop %s yolo\n\n", t.ID)
}

// AIOSReview is the head of the reviewer's prompt.
func AIOSReview(t task.Task) string { return fmt.Sprintf("@qa\n*review %s\n\n", t.ID) }

// GateVerdict reads a gate file: its verdict and its reasons, which people and agents write in several forms. ok is
// false if there is no verdict.
func GateVerdict(data []byte) (verdict string, reasons []state.Reason, ok bool) {
	var g struct {
		Gate    string `yaml:"gate"`
		Reason  any    `yaml:"status_reason"`
		Reasons any    `yaml:"reasons"`
		Issues  any    `yaml:"top_issues"`
	}
	if projectfs.UnmarshalYAML(data, &g) != nil {
		return "", nil, false
	}
	words := map[string]string{"PASS": state.VerdictPass, "WAIVED": state.VerdictPass,
		"CONCERNS": state.VerdictConcerns, "FAIL": state.VerdictFail}
	if verdict, ok = words[strings.ToUpper(strings.TrimSpace(g.Gate))]; !ok {
		return "", nil, false
	}
	for _, said := range []any{g.Reason, g.Reasons, g.Issues} {
		for _, text := range texts(said) {
			reasons = append(reasons, state.Reason{Text: text})
		}
	}
	return verdict, reasons, true
}

// texts are what a value of a gate file says: a text, an issue, or a list of them.
func texts(value any) (all []string) {
	switch v := value.(type) {
	case string:
		if v = strings.TrimSpace(v); v != "" && !strings.EqualFold(v, "none") {
			all = append(all, v)
		}
	case []any:
		for _, one := range v {
			all = append(all, texts(one)...)
		}
	case map[string]any:
		said := slices.Concat(texts(v["finding"]), texts(v["description"]), texts(v["suggested_action"]))
		if len(said) > 0 {
			all = append(all, strings.Join(said, ": "))
		}
	}
	return all
}

// ReviewSection is the story with the part that belongs to the review, "## QA Results", taken from
// another version of it.
func ReviewSection(story, reviewed string) string {
	_, part := cutSection(reviewed)
	if part == "" {
		return story
	}
	rest, _ := cutSection(story)
	return strings.TrimRight(rest, "\n") + "\n\n" + strings.TrimRight(part, "\n") + "\n"
}

// cutSection takes the part of the review out of a story.
func cutSection(story string) (rest, part string) {
	inside := false
	for line := range strings.Lines(story) {
		if strings.HasPrefix(line, "## ") {
			inside = strings.EqualFold(strings.TrimSpace(strings.TrimPrefix(line, "## ")), "QA Results")
		}
		if inside {
			part += line
		} else {
			rest += line
		}
	}
	return rest, part
}

// AiosHandoffs is the folder of the handoffs between developer and reviewer, relative to the project.
const AiosHandoffs = ".aios/handoffs"

// AIOSHandoff is what one call leaves the next one.
type AIOSHandoff struct {
	Version   string      `yaml:"version"`
	Timestamp string      `yaml:"timestamp"`
	Consumed  bool        `yaml:"consumed"`
	From      string      `yaml:"from_agent"`
	To        string      `yaml:"to_agent"`
	Story     AIOSContext `yaml:"story_context"`
	Decisions []string    `yaml:"decisions"`
	Files     []string    `yaml:"files_modified"`
	Blockers  []string    `yaml:"blockers"`
	Next      string      `yaml:"next_action"`
}

// AIOSContext is the story of a handoff.
type AIOSContext struct {
	ID     string `yaml:"story_id"`
	Path   string `yaml:"story_path"`
	Status string `yaml:"story_status"`
	Task   string `yaml:"current_task"`
	Branch string `yaml:"branch"`
}

// Write writes a handoff into a folder of a project, with at most as much as its readers take.
func (h AIOSHandoff) Write(in projectfs.Dir, dir string, now time.Time) error {
	h.Version, h.Timestamp = "1.0", now.UTC().Format(time.RFC3339)
	h.Files, h.Blockers = h.Files[:min(10, len(h.Files))], h.Blockers[:min(3, len(h.Blockers))]
	for i, text := range h.Blockers {
		h.Blockers[i] = strings.ToValidUTF8(text[:min(300, len(text))], "")
	}
	data, err := yaml.Marshal(h)
	if err == nil {
		err = in.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = in.Write(filepath.Join(dir, fmt.Sprintf("handoff-%s-to-%s-%d.yaml", h.From, h.To, now.Unix())), data,
			0o644)
	}
	if err != nil {
		return fmt.Errorf("write handoff: %w", err)
	}
	return nil
}

// ConsumeHandoff marks what the story's earlier calls left for a role as read, now that this role has answered.
func ConsumeHandoff(in projectfs.Dir, dir, to, story string) error {
	files, err := fs.Glob(in.FS(dir), "handoff-*-to-"+to+"-*.yaml")
	for _, file := range files {
		file = filepath.Join(dir, file)
		var h AIOSHandoff
		data, readErr := in.Read(file, maxHandoff)
		if readErr != nil || projectfs.UnmarshalYAML(data, &h) != nil || h.Consumed || h.To != to || h.Story.ID != story {
			continue // somebody else's, perhaps
		}
		text := strings.Replace(string(data), "\nconsumed: false\n", "\nconsumed: true\n", 1)
		err = errors.Join(err, in.Update(file, []byte(text), 0o644))
	}
	if err != nil {
		return fmt.Errorf("mark handoff as read: %w", err)
	}
	return nil
}
