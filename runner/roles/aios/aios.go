// Package aios has the conventions of AIOS and BMAD projects between developer and reviewer: how
// each is called, what a review may write, its gate file, and the handoff between two calls. AIOS
// comes from BMAD.
package aios

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"ralph/config/option"
	"ralph/runner/task"
	"ralph/state"
	"ralph/state/projectfs"
	"ralph/state/safeyaml"
)

// Options is what a user can say about projects of AIOS.
type Options struct {
	Enabled    string // auto, true or false
	QAEnabled  bool
	DevMode    string
	HandoffDir string // relative to the project
	StoryDir   string // relative to the project; empty: the usual one
	Push       bool   // when a story is done
	BMAD       bool   // in projects of BMAD that name a folder for it, stories are reviewed
}

// Options are the rows of the option table that fill o.
func (o *Options) Options() []option.Row {
	return []option.Row{{
		Group: "Review", Key: "AIOS_ENABLED", YAML: "aios.enabled",
		Kind: option.Enum, Default: "auto", Values: []string{"auto", "true", "false"}, Field: &o.Enabled,
		Help: "Follow the conventions of AIOS; auto means only if the project has .aios-core/ or .aiox-core/.",
	}, {
		Group: "Review", Key: "AIOS_QA_ENABLED", YAML: "aios.qa",
		Kind: option.Bool, Default: "true", Field: &o.QAEnabled,
		Help: "In AIOS projects, let @qa review each story.",
	}, {
		Group: "Review", Key: "AIOS_DEV_MODE", YAML: "aios.dev_mode",
		Kind: option.String, Default: "yolo", Field: &o.DevMode,
		Help: "Mode in which @dev develops a story.",
	}, {
		Group: "Review", Key: "AIOS_HANDOFF_DIR", YAML: "aios.handoff_dir",
		Kind: option.String, Default: ".aios/handoffs", Field: &o.HandoffDir,
		Help: "Folder in the project for the handoffs between @dev and @qa; empty means none.",
	}, {
		Group: "Review", Key: "AIOS_STORY_DIR", YAML: "aios.story_dir",
		Kind: option.String, Field: &o.StoryDir,
		Help: "Folder of the stories in AIOS projects, unless PLAN_FILE names a plan; empty means docs/stories.",
	}, {
		Group: "Review", Key: "AIOS_PUSH_ENABLED", YAML: "aios.push",
		Kind: option.Bool, Default: "false", Trust: true, Safe: []string{"false"}, Field: &o.Push,
		Help: "In AIOS projects, run git push when a story is done; without this, ralph never pushes.",
	}, {
		Group: "Review", Key: "BMAD_QA_ENABLED", YAML: "bmad.qa",
		Kind: option.Bool, Default: "true", Field: &o.BMAD,
		Help: "In BMAD 4 projects whose .bmad-core/core-config.yaml has qa.qaLocation, let @qa review each story.",
	}}
}

// In reports whether the project at dir is one of AIOS.
func (o Options) In(dir string) bool {
	if o.Enabled == "false" || o.Enabled == "" {
		return false
	}
	return o.Enabled == "true" || slices.ContainsFunc([]string{".aios-core", ".aiox-core"}, func(name string) bool {
		info, err := projectfs.In(dir).Lstat(filepath.Join(dir, name))
		return err == nil && info.IsDir()
	})
}

// Stories is the folder of the stories that the user has named, relative to the project;
// empty: none, or the project is not one of AIOS, or has no such folder.
func (o Options) Stories(dir string) string {
	if o.StoryDir == "" || !filepath.IsLocal(o.StoryDir) || !o.In(dir) {
		return ""
	}
	if info, err := projectfs.In(dir).Lstat(filepath.Join(dir, o.StoryDir)); err != nil || !info.IsDir() {
		return ""
	}
	return o.StoryDir
}

// Develop is the head of the developer's prompt.
func (o Options) Develop(t task.Task) string {
	return strings.TrimSpace(fmt.Sprintf("@dev\n*develop %s %s", t.ID, o.DevMode)) + "\n\n" +
		"If you decide something that your reviewer must know, write it into your final message, on a line of its own: `Decision: ...`\n\n"
}

// Review is the head of the reviewer's prompt.
func Review(t task.Task) string { return fmt.Sprintf("@qa\n*review %s\n\n", t.ID) }

// Verdict reads a gate file: its verdict and its reasons, which people and agents write in several forms. ok is
// false if there is no verdict.
func Verdict(data []byte) (verdict string, reasons []state.Reason, ok bool) {
	var g struct {
		Gate    string `yaml:"gate"`
		Reason  any    `yaml:"status_reason"`
		Reasons any    `yaml:"reasons"`
		Issues  any    `yaml:"top_issues"`
	}
	if safeyaml.Unmarshal(data, &g) != nil {
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

// Section is the story with the part that belongs to the review, "## QA Results", taken from
// another version of it.
func Section(story, reviewed string) string {
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

// Handoff is what one call leaves the next one.
type Handoff struct {
	Version   string   `yaml:"version"`
	Timestamp string   `yaml:"timestamp"`
	Consumed  bool     `yaml:"consumed"`
	From      string   `yaml:"from_agent"`
	To        string   `yaml:"to_agent"`
	Story     Context  `yaml:"story_context"`
	Decisions []string `yaml:"decisions"`
	Files     []string `yaml:"files_modified"`
	Blockers  []string `yaml:"blockers"`
	Next      string   `yaml:"next_action"`
}

// Context is the story of a handoff.
type Context struct {
	ID     string `yaml:"story_id"`
	Path   string `yaml:"story_path"`
	Status string `yaml:"story_status"`
	Task   string `yaml:"current_task"`
	Branch string `yaml:"branch"`
}

// Write writes a handoff into a folder of a project, with at most as much as its readers take.
func (h Handoff) Write(in projectfs.Dir, dir string, now time.Time) error {
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

// Consume marks what the story's earlier calls left for a role as read, now that this role has answered.
func Consume(in projectfs.Dir, dir, to, story string) error {
	files, err := fs.Glob(in.FS(dir), "handoff-*-to-"+to+"-*.yaml")
	for _, file := range files {
		file = filepath.Join(dir, file)
		var h Handoff
		data, readErr := in.Read(file, maxConfig)
		if readErr != nil || safeyaml.Unmarshal(data, &h) != nil || h.Consumed || h.To != to || h.Story.ID != story {
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
