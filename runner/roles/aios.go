package roles

// The files aios*.go have the conventions of AIOS and BMAD projects between developer and
// reviewer: how each is called, what a review may write, its gate file, and the handoff
// between two calls. AIOS comes from BMAD.

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

	"ralph/logs/termtext"
	"ralph/runner/task"
	"ralph/state"
	"ralph/state/option"
	"ralph/state/projectfs"
)

// AIOSOptions is what a user can say about projects of AIOS.
type AIOSOptions struct {
	Enabled   string // auto, true or false
	QAEnabled bool
	BMAD      bool // in projects of BMAD that name a folder for it, stories are reviewed
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
	}, {
		Group: "Review", Key: "BMAD_QA_ENABLED", YAML: "bmad.qa",
		Kind: option.Bool, Default: "true", Field: &o.BMAD,
		Help: "In BMAD 4 projects whose .bmad-core/core-config.yaml has qa.qaLocation, let @qa review each story.",
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
	aios    bool
	bmad    bool   // and it names a folder for reports
	reports string // folder of what reviewers write, relative to the project
}

const (
	usualReports = "docs/qa"
	maxConfig    = 1 << 20 // bytes
)

// At looks at the project in a folder.
func (o AIOSOptions) At(dir string) AIOSProject {
	p := AIOSProject{AIOSOptions: o, aios: o.In(dir), reports: usualReports}
	for _, folder := range []string{".aios-core", ".aiox-core", ".bmad-core"} {
		named := location(projectfs.In(dir), filepath.Join(dir, folder, "core-config.yaml"))
		if p.bmad = named != "" && folder == ".bmad-core"; named == "" {
			continue
		}
		if clean := path.Clean(named); clean != "." && filepath.IsLocal(clean) {
			p.reports = clean
		}
		break
	}
	return p
}

// location is the folder for reports that a configuration names; empty: it names none.
func location(in projectfs.Dir, file string) string {
	var c struct {
		QA struct {
			Location string `yaml:"qaLocation"`
		} `yaml:"qa"`
	}
	if data, err := in.Read(file, maxConfig); err != nil || projectfs.UnmarshalYAML(data, &c) != nil {
		return ""
	}
	return strings.TrimSpace(c.QA.Location)
}

// Story reports whether a task is a story of AIOS in a project of AIOS.
func (p AIOSProject) Story(t task.Task) bool {
	base := path.Base(t.File)
	return p.aios && (strings.HasSuffix(base, ".story.md") || strings.HasPrefix(base, "STORY-"))
}

// Reports reports whether a task is a story whose reviewer writes a report and a gate file.
func (p AIOSProject) Reports(t task.Task) bool {
	named, _ := path.Match("[0-9]*.[0-9]*.*.md", path.Base(t.File))
	return p.Story(t) || p.bmad && named && !strings.HasSuffix(t.File, ".story.md")
}

// Asks reports whether the project wants a review of a task.
func (p AIOSProject) Asks(t task.Task) bool {
	if p.Story(t) {
		return p.QAEnabled
	}
	return p.BMAD && p.Reports(t)
}

// Folder is where reviewers write, relative to the project.
func (p AIOSProject) Folder() string { return p.reports }

// IsGate reports whether a file of the project is a gate file of a story.
func (p AIOSProject) IsGate(t task.Task, file string) bool {
	is, _ := path.Match(p.reports+"/gates/"+t.ID+"-*.y*ml", file)
	return is
}

// MayWrite reports whether a review may write this file of the project.
func (p AIOSProject) MayWrite(file string) bool { return strings.HasPrefix(file, p.reports+"/") }

// AiosDevelop is the head of the developer's prompt.
func AiosDevelop(t task.Task) string {
	return fmt.Sprintf("@dev\n*develop %s yolo\n\n", t.ID) +
		"If you decide something that your reviewer must know, write it into your final message, on a line of its own: `Decision: ...`\n\n"
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
	h.Decisions, h.Files, h.Blockers = h.Decisions[:min(5, len(h.Decisions))], h.Files[:min(10,
		len(h.Files))], h.Blockers[:min(3, len(h.Blockers))]
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
		data, readErr := in.Read(file, maxConfig)
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

const (
	mostDecisions = 5   // of a handoff
	longDecision  = 200 // characters
)

// Decisions are what a developer of a story says it has decided: the lines of its final message that begin with
// "Decision:". Other tasks have none.
func (p AIOSProject) Decisions(t task.Task, final string) (all []string) {
	if !p.Story(t) {
		return nil
	}
	for line := range strings.Lines(termtext.Clean(final)) {
		label, text, found := strings.Cut(strings.TrimLeft(line, " \t-*+>"), ":")
		text = termtext.Line(strings.Trim(text, " \t\r\n*"))
		if !found || !strings.EqualFold(strings.Trim(label, " *_"), "decision") || text == "" {
			continue
		}
		if r := []rune(text); len(r) > longDecision {
			text = string(r[:longDecision]) + "..."
		}
		if all = append(all, text); len(all) == mostDecisions {
			break
		}
	}
	return all
}
