// Package migrate reads projects of other programs called ralph: their settings, plan and
// prompt, as ralph would have them, and what has no counterpart. It writes nothing.
//
//	Read: tool x folder -> Project
package migrate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Project is what ralph takes over.
type Project struct {
	Settings []Setting
	Prompt   string // slash path below the project; empty: ralph writes its own
	Plan     string // slash path below the project; empty: none
	Left     []Left
	Own      bool // the settings are in .ralphrc, which ralph reads as it is
}

// Setting is an option of ralph, and where its value comes from.
type Setting struct{ Key, Value, From string }

// Left is what was not taken, and why or what to do instead.
type Left struct{ Name, Why string }

// Row says what becomes of a setting of another tool.
type Row struct {
	Theirs string // its name; a * at the end stands for any rest
	Ours   string // the option; empty if there is none
	Note   string // what to know; for what has no counterpart, what to do instead
	// value converts a value; empty: it says what ralph does anyway. nil: it stays.
	value func(string) (string, error)
}

// pair is a setting as the tool's file has it.
type pair struct{ name, value string }

// tool is another program called ralph.
type tool struct {
	name  string
	about string
	rows  func() []Row
	read  func(dir string) (Project, []pair, error)
}

// tools are those whose projects can be read.
func tools() []tool {
	return []tool{
		{"ralph-claude-code", "`.ralphrc`, `.ralph/PROMPT.md`, `.ralph/fix_plan.md`", claudeCodeRows, claudeCode},
		{"ralphex", "`.ralphex/config`, `.ralphex/prompts/task.txt`, `docs/plans/*.md`", ralphexRows, ralphex},
		{"ralph-tui", "`.ralph-tui/config.toml`, `prd.json`", tuiRows, tui},
		{"snarktank", "`ralph.sh`, `prompt.md` or `CLAUDE.md`, `prd.json`", snarktankRows, snarktank},
	}
}

// Tools are the names that Read knows.
func Tools() []string {
	var names []string
	for _, t := range tools() {
		names = append(names, t.name)
	}
	return names
}

// Read reads the project of a tool in dir. option names the option that ralph sets by a name in
// .ralphrc; empty: none. An error is one line: the project is not configured, or not completely.
func Read(name, dir string, option func(string) string) (Project, error) {
	i := slices.IndexFunc(tools(), func(t tool) bool { return t.name == name })
	if i < 0 {
		return Project{}, fmt.Errorf("ralph cannot read projects of %q; it knows %s", name, strings.Join(Tools(), ", "))
	}
	t := tools()[i]
	p, pairs, err := t.read(dir)
	if err != nil {
		return Project{}, fmt.Errorf("no complete project of %s in %s: %w", t.name, dir, err)
	}
	for _, pair := range pairs {
		if pair.value == "" { // the default
			continue
		}
		if key := option(pair.name); p.Own && key != "" && find(t.rows(), pair.name) < 0 {
			p.add(Setting{key, pair.value, pair.name})
			continue
		}
		if err := p.take(t.rows(), pair); err != nil {
			return Project{}, err
		}
	}
	return p, nil
}

// find is the index of the row of a setting; less than 0: it has none.
func find(rows []Row, name string) int {
	return slices.IndexFunc(rows, func(r Row) bool {
		start, rest := strings.CutSuffix(r.Theirs, "*")
		return r.Theirs == name || rest && strings.HasPrefix(name, start)
	})
}

// take adds one setting to what is taken or left.
func (p *Project) take(rows []Row, s pair) error {
	i := find(rows, s.name)
	if i < 0 {
		p.Left = append(p.Left, Left{s.name, "ralph does not know it"})
		return nil
	}
	row, value := rows[i], s.value
	if row.Ours == "" {
		p.Left = append(p.Left, Left{s.name, row.Note})
		return nil
	}
	if row.value != nil {
		var err error
		if value, err = row.value(value); err != nil {
			return fmt.Errorf("%s %q: %w", s.name, s.value, err)
		}
	}
	if value != "" {
		p.add(Setting{row.Ours, value, s.name})
	}
	return nil
}

// add adds a setting. Of several names for one thing the first counts; in .ralphrc, the name of the option does.
func (p *Project) add(s Setting) {
	same := func(o Setting) bool { return o.Key == s.Key }
	if p.Own && s.From == s.Key {
		p.Settings = slices.DeleteFunc(p.Settings, same)
	}
	if !slices.ContainsFunc(p.Settings, same) {
		p.Settings = append(p.Settings, s)
	}
}

// first returns the first of the names that is a file below dir; empty: none is.
func first(dir string, names ...string) string {
	for _, name := range names {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// need is first, with an error that names the first file.
func need(dir, maker string, names ...string) (string, error) {
	name := first(dir, names...)
	if name == "" {
		return "", fmt.Errorf("%s is missing; %s writes it", names[0], maker)
	}
	return name, nil
}
