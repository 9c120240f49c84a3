package aios

import (
	"path"
	"path/filepath"
	"strings"

	"ralph/runner/task"
	"ralph/state/projectfs"
	"ralph/state/safeyaml"
)

// Project is what the conventions of a project ask for, as it was when the run began: what an agent does
// to the project's folders takes no review away.
type Project struct {
	Options
	aios    bool
	bmad    bool   // and it names a folder for reports
	reports string // folder of what reviewers write, relative to the project
}

const (
	usualReports = "docs/qa"
	maxConfig    = 1 << 20 // bytes
)

// At looks at the project in a folder.
func (o Options) At(dir string) Project {
	p := Project{Options: o, aios: o.In(dir), reports: usualReports}
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
	if data, err := in.Read(file, maxConfig); err != nil || safeyaml.Unmarshal(data, &c) != nil {
		return ""
	}
	return strings.TrimSpace(c.QA.Location)
}

// Story reports whether a task is a story of AIOS in a project of AIOS.
func (p Project) Story(t task.Task) bool {
	base := path.Base(t.File)
	return p.aios && (strings.HasSuffix(base, ".story.md") || strings.HasPrefix(base, "STORY-"))
}

// Reports reports whether a task is a story whose reviewer writes a report and a gate file.
func (p Project) Reports(t task.Task) bool {
	named, _ := path.Match("[0-9]*.[0-9]*.*.md", path.Base(t.File))
	return p.Story(t) || p.bmad && named && !strings.HasSuffix(t.File, ".story.md")
}

// Asks reports whether the project wants a review of a task.
func (p Project) Asks(t task.Task) bool {
	if p.Story(t) {
		return p.QAEnabled
	}
	return p.BMAD && p.Reports(t)
}

// Folder is where reviewers write, relative to the project.
func (p Project) Folder() string { return p.reports }

// IsGate reports whether a file of the project is a gate file of a story.
func (p Project) IsGate(t task.Task, file string) bool {
	is, _ := path.Match(p.reports+"/gates/"+t.ID+"-*.y*ml", file)
	return is
}

// MayWrite reports whether a review may write this file of the project.
func (p Project) MayWrite(file string) bool { return strings.HasPrefix(file, p.reports+"/") }
