// Package store has the table of plan formats: it finds plans, reads them and changes single tasks
// in their files.
package store

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tidwall/gjson"

	"ralph/runner/task"
	"ralph/runner/task/beads"
	"ralph/runner/task/boxes"
	"ralph/runner/task/records"
	"ralph/runner/task/stories"
	"ralph/state/projectfs"
)

// format is one kind of plan.
type format struct {
	Name string
	// Where are the places in a project, best first: patterns of slash paths.
	Where []string
	// Find lists places that patterns cannot express; nil: Where has all.
	Find func(project string) []string
	// Globs match the plan's path: the base name in lower case or, with a slash, the end of
	// the path.
	Globs []string
	// Is checks the content if the name matches; nil: the name is enough.
	Is func(data []byte) bool
	// Sniff recognizes the format by its content alone, for files without an extension; nil: never.
	Sniff func(data []byte) bool
	// Files make the plan a folder: patterns of the files in it.
	Files []string
	Not   []string // of Files
	// Beside are files that are read with the plan: patterns relative to its folder. More returns
	// others, from the plan's content; nil: none.
	Beside []string
	More   func(plan []byte) []string
	Parse  func(task.Input) (task.Parsed, error)
	// Program keeps the tasks of the folder Where; nil: they are in files.
	Program *program
	// New returns the text of a new task, and where it goes; nil: each task is a file of its own.
	New func(f task.File, p task.Parsed, title string) (task.Range, string)
	// Title returns a title as the format writes it.
	Title func(string) string
}

// formats is the table, in the order in which Find looks for plans. The row of a more
// specific name comes before that of a more general one.
var formats = sync.OnceValue(func() []format {
	return []format{{
		Name: "checkbox", Where: []string{".ralph/fix_plan.md", "fix_plan.md", "@fix_plan.md"},
		Sniff: boxes.HasBox, Parse: boxes.Checkbox, New: boxes.New(boxes.NoNumber), Title: boxes.Title,
	}, {
		Name: "prd.json", Where: []string{"prd.json", ".ralph/prd.json"},
		Sniff: records.LooksLikeJSON, Parse: records.PRD, New: records.New(records.NewStory), Title: records.Title,
	}, {
		Name: "tasks.json", Where: []string{".ralph/tasks.json"},
		Globs: []string{".ralph/tasks.json"}, Parse: records.Tasks, New: records.New(records.NewTask), Title: records.Title,
	}, {
		Name: "PRD folder", Where: []string{"docs/prd"}, Files: []string{"*.json"},
		Parse: records.Folder, New: records.New(records.NewItem), Title: records.Title,
	}, {
		Name: "Spec Kit", Find: findSpecKit, Globs: []string{".specify/feature.json"}, Parse: boxes.NoFeature,
	}, {
		Name: "BMAD sprint", Where: []string{"_bmad-output/implementation-artifacts/sprint-status.yaml",
			"docs/sprint-artifacts/sprint-status.yaml", "docs/sprint-status.yaml", "docs/stories/sprint-status.yaml",
			"sprint-status.yaml"},
		Globs: []string{"sprint-status.yaml", "sprint-status.yml"}, More: stories.StoryFolders,
		Parse: stories.Sprint, Title: stories.Heading,
	}, {
		Name: "BMAD spec", Where: []string{"_bmad-output/implementation-artifacts/*.md"}, Globs: []string{"*.md"},
		Is: stories.IsSpec, Parse: stories.Spec, Title: stories.Title,
	}, {
		Name: "BMAD stories", Find: inProjectsWith("docs/stories", ".bmad-core"),
		Files: []string{"[0-9]*.[0-9]*.*.md"}, Not: []string{"*.story.md"},
		Parse: stories.BMAD4, Title: stories.Heading,
	}, {
		Name: "OpenSpec", Where: []string{"openspec/changes/*/tasks.md"},
		Globs: []string{"openspec/changes/*/tasks.md"},
		Parse: boxes.OpenSpec, New: boxes.New(boxes.NextTop), Title: boxes.Title,
	}, {
		Name: "Kiro", Where: []string{".kiro/specs/*/tasks.md"}, Globs: []string{".kiro/specs/*/tasks.md"},
		Beside: []string{"spec.json"}, Parse: boxes.Kiro, New: boxes.New(boxes.NextTop), Title: boxes.Title,
	}, {
		Name: "Taskmaster", Where: []string{".taskmaster/tasks/tasks.json"},
		Globs:  []string{".taskmaster/tasks/tasks.json"},
		Beside: []string{"../state.json"}, Parse: records.Taskmaster, New: records.New(records.NewNumbered), Title: records.Title,
	}, {
		Name: "Backlog.md", Where: []string{"backlog", ".backlog"}, Files: []string{"tasks/*.md"},
		Beside: []string{"config.yml"}, Parse: stories.Backlog, Title: stories.Title,
	}, {
		Name: "AIOS", Find: inProjectsWith("docs/stories", ".aios-core", ".aiox-core"),
		Files: []string{"**/*.story.md", "**/STORY-*.md"}, Parse: stories.AIOS, Title: stories.Heading,
	}, {
		Name: "Beads", Where: []string{".beads"}, Parse: beads.Parse, Program: &program{
			Name: beads.Program, Steers: []string{".beads/config.yaml", ".beads/hooks/", ".beads/redirect"},
			List: beads.List, Set: beads.Set, Add: beads.Add,
		},
	}, { // the rows below recognize their files by content
		Name: "Spec Kit", Globs: []string{"tasks.md"}, Is: boxes.IsSpecKit, Parse: boxes.SpecKit,
		New: boxes.New(boxes.NextT), Title: boxes.Title,
	}, {
		Name: "tasks.json", Globs: []string{"tasks.json"}, Parse: records.Tasks, New: records.New(records.NewTask),
		Title: records.Title, Is: func(data []byte) bool { return gjson.GetBytes(data, "tasks.0.name").Exists() },
	}, {
		Name: "Taskmaster", Globs: []string{"tasks.json"}, Is: records.LooksLikeTaskmaster, Parse: records.Taskmaster,
		New: records.New(records.NewNumbered), Title: records.Title,
	}, {
		Name: "prd.json", Globs: []string{"*.json"}, Parse: records.PRD, New: records.New(records.NewStory), Title: records.Title,
	}, {
		Name: "checkbox", Globs: []string{"*.md", "*.markdown", "*.mdown"}, Parse: boxes.Checkbox,
		New: boxes.New(boxes.NoNumber), Title: boxes.Title,
	}}
})

// fits reports whether a glob of the row matches the path.
func (f format) fits(name string) bool {
	return slices.ContainsFunc(f.Globs, func(glob string) bool { return fitsGlob(glob, name) })
}

// findSpecKit returns the tasks.md of the current feature, else those of all features.
func findSpecKit(project string) []string {
	named := filepath.Join(project, ".specify", "feature.json")
	in := projectfs.In(project)
	config, _ := readStable(in, named) // if it is missing, the environment may name a feature
	switch feature, ok := boxes.Feature(project, body(config)); {
	case !ok:
		return []string{named} // reading it will report what is wrong
	case feature != "":
		return matchesIn(in, project, path.Join(filepath.ToSlash(feature), "tasks.md"))
	}
	return inProjectsWith("specs/*/tasks.md", ".specify")(project)
}

// inProjectsWith returns a function that looks for a path in projects that have one of the others.
func inProjectsWith(folder string, others ...string) func(string) []string {
	return func(project string) []string {
		for _, other := range others {
			if len(matchesIn(projectfs.In(project), project, other)) > 0 {
				return matchesIn(projectfs.In(project), project, folder)
			}
		}
		return nil
	}
}

// body returns the content without a byte order mark.
func body(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) }
