package scaffold

// The files migrate_*.go read projects of other programs called ralph: their settings,
// plan and prompt, as ralph would have them, and what has no counterpart. They write
// nothing.
//
//	Read: tool x folder -> Project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Foreign is what ralph takes over.
type Foreign struct {
	Settings []ForeignSetting
	Prompt   string // slash path below the project; empty: ralph writes its own
	Plan     string // slash path below the project; empty: none
	Left     []foreignLeft
	Own      bool // the settings are in .ralphrc, which ralph reads as it is
}

// ForeignSetting is an option of ralph, and where its value comes from.
type ForeignSetting struct{ Key, Value, From string }

// foreignLeft is what was not taken, and why or what to do instead.
type foreignLeft struct{ Name, Why string }

// foreignRow maps a setting of another tool to what ralph makes of it.
type foreignRow struct {
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
	rows  func() []foreignRow
	read  func(dir string) (Foreign, []pair, error)
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

// ForeignTools are the names that Read knows.
func ForeignTools() []string {
	var names []string
	for _, t := range tools() {
		names = append(names, t.name)
	}
	return names
}

// ReadForeign reads the project of a tool in dir. option names the option that ralph sets by a name in
// .ralphrc; empty: none. An error is one line: the project is not configured, or not completely.
func ReadForeign(name, dir string, option func(string) string) (Foreign, error) {
	i := slices.IndexFunc(tools(), func(t tool) bool { return t.name == name })
	if i < 0 {
		return Foreign{}, fmt.Errorf("ralph cannot read projects of %q; it knows %s", name, strings.Join(ForeignTools(), ", "))
	}
	t := tools()[i]
	p, pairs, err := t.read(dir)
	if err != nil {
		return Foreign{}, fmt.Errorf("no complete project of %s in %s: %w", t.name, dir, err)
	}
	for _, pair := range pairs {
		if pair.value == "" { // the default
			continue
		}
		if key := option(pair.name); p.Own && key != "" && migrateFind(t.rows(), pair.name) < 0 {
			p.add(ForeignSetting{key, pair.value, pair.name})
			continue
		}
		if err := p.take(t.rows(), pair); err != nil {
			return Foreign{}, err
		}
	}
	return p, nil
}

// migrateFind is the index of the row of a setting; less than 0: it has none.
func migrateFind(rows []foreignRow, name string) int {
	return slices.IndexFunc(rows, func(r foreignRow) bool {
		start, rest := strings.CutSuffix(r.Theirs, "*")
		return r.Theirs == name || rest && strings.HasPrefix(name, start)
	})
}

// take adds one setting to what is taken or left.
func (p *Foreign) take(rows []foreignRow, s pair) error {
	i := migrateFind(rows, s.name)
	if i < 0 {
		p.Left = append(p.Left, foreignLeft{s.name, "ralph does not know it"})
		return nil
	}
	row, value := rows[i], s.value
	if row.Ours == "" {
		p.Left = append(p.Left, foreignLeft{s.name, row.Note})
		return nil
	}
	if row.value != nil {
		var err error
		if value, err = row.value(value); err != nil {
			return fmt.Errorf("%s %q: %w", s.name, s.value, err)
		}
	}
	if value != "" {
		p.add(ForeignSetting{row.Ours, value, s.name})
	}
	return nil
}

// add adds a setting. Of several names for one thing the first counts; in .ralphrc, the name of the option does.
func (p *Foreign) add(s ForeignSetting) {
	same := func(o ForeignSetting) bool { return o.Key == s.Key }
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
