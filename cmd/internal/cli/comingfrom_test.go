package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/shell"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/config"
	"ralph/runner/agent/statusblock"
	"ralph/runner/prompt"
	"ralph/runner/rules"
	"ralph/runner/task/store"
	"ralph/state"
)

var codeSpan = regexp.MustCompile("`([^`]+)`")

// What the page says about this ralph must exist: verbs, flags, options, files, rules.
func TestComingFrom_whatItNames_exists(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	data, err := os.ReadFile(filepath.Join(root, "docs", "coming-from.md"))
	if err != nil {
		t.Fatal(err)
	}
	exists := existing(t, root)
	rows := 0
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| you know") {
			continue
		}
		if rows++; len(cells) != 3 {
			t.Errorf("%d cells in %q", len(cells), line)
			continue
		}
		for _, span := range codeSpan.FindAllStringSubmatch(strings.Join(cells[1:], " "), -1) {
			if !exists(span[1]) {
				t.Errorf("%q does not exist: %q", span[1], line)
			}
		}
	}
	if rows < 15 {
		t.Errorf("only %d rows", rows)
	}
}

// existing reports whether a name in the documents stands for something that is there.
func existing(t *testing.T, root string) func(name string) bool {
	known := append(stateFiles(t), ".ralphrc", "last_action", "judge_results", "validation_results")
	for _, o := range config.Table() {
		known = append(append(known, o.Key), o.Aliases...)
	}
	for _, r := range rules.AdmitRules() {
		known = append(known, r.Name)
	}
	for _, r := range rules.ConcludeRules() {
		known = append(known, r.Name)
	}
	for _, r := range rules.CaseRules() {
		known = append(known, r.Name)
	}
	return func(name string) bool {
		program, args, _ := strings.Cut(name, " ")
		switch {
		case program == "ralph":
			return isCommand(strings.Fields(args))
		case program == "make":
			makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
			return err == nil && strings.Contains(string(makefile), "\n"+args+": ")
		case strings.HasPrefix(name, "ralph-"):
			_, err := os.Stat(filepath.Join(root, "cmd", name))
			return err == nil || slices.Contains(cmdline.Links(), name)
		case name == "install.sh":
			_, err := os.Stat(filepath.Join(root, name))
			return err == nil
		case strings.HasPrefix(name, "-"):
			return isCommand([]string{"run", name})
		case strings.Contains(name, ": "):
			signal, ok := statusblock.Parse("---RALPH_STATUS---\nSTATUS: BLOCKED\n" + name + "\n---END_RALPH_STATUS---")
			return ok && !cmp.Equal(signal, statusblock.Signal{Status: statusblock.Blocked})
		}
		return slices.Contains(known, name) || isRead(t, name)
	}
}

// isCommand reports whether ralph takes these verbs and flags.
func isCommand(args []string) bool {
	root, _ := newRootCmd(cmdline.New())
	var c *cobra.Command
	c, rest, err := root.Find(args)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(rest, func(word string) bool {
		if flag, is := strings.CutPrefix(word, "--"); is {
			return c.Flag(flag) == nil && root.Flag(flag) == nil
		}
		return strings.Trim(word, "0123456789") != "" && word != "json"
	})
}

// stateFiles are the files of .ralph that ralph writes.
func stateFiles(t *testing.T) []string {
	dir := filepath.Join(t.TempDir(), state.DirName)
	w, _, err := state.Acquire(dir, state.Owner{PID: os.Getpid(), StartedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Release()
	var names []string
	for _, f := range state.Files() {
		names = append(names, ".ralph/"+f.Name)
	}
	if _, err := os.Stat(filepath.Join(dir, ".gitignore")); err == nil {
		names = append(names, ".ralph/.gitignore")
	}
	return names
}

// isRead reports whether ralph finds a plan or a prompt of this name in a project. A name
// without an extension is a folder's.
func isRead(t *testing.T, name string) bool {
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	if filepath.Ext(name) == "" {
		path = filepath.Join(path, "a.json")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, plan := store.Find(dir, nil)
	_, err := prompt.Find(dir, "")
	return plan || err == nil
}

// documents are all pages that people read.
func documents(t *testing.T) (pages []string) {
	root := filepath.Join("..", "..", "..")
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		pages = append(pages, found...)
	}
	return pages
}

// A line of commands stands below the one before, and is a command that ralph takes.
func TestDocs_commands_existAndAreAligned(t *testing.T) {
	line := regexp.MustCompile(`^( {4,})(\w+)( .*)?$`)
	commands := 0
	for _, page := range documents(t) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		before, fenced := "", false
		for text := range strings.Lines(string(data)) {
			text = strings.TrimRight(text, "\n")
			fenced = fenced != strings.HasPrefix(strings.TrimSpace(text), "```")
			if m := line.FindStringSubmatch(text); m != nil && !fenced {
				if len(m[1]) > 4 && (before == "" || slices.Contains([]string{"ralph", "make", "sh"}, m[2])) {
					t.Errorf("%s: more than four spaces: %q", page, text)
				}
				if commands++; m[2] == "ralph" {
					if err := understood(m[3]); err != nil {
						t.Errorf("%s: %q: %v", page, text, err)
					}
				}
			}
			before = strings.TrimSpace(text)
		}
	}
	if commands < 60 {
		t.Errorf("only %d lines of commands", commands)
	}
}

// Whoever finds exit code 3 finds the rule that ended the run on the page about problems.
func TestDocs_stoppedWith3_namesEachRuleThatHalts(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "problems.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, r := range rules.CaseRules() {
		rows[r.Name] = rows[r.Name] || strings.Contains(r.Then, "stop 3")
	}
	for _, r := range rules.AdmitRules() {
		rows[r.Name] = rows[r.Name] || strings.Contains(r.Then, "stop 3")
	}
	for _, r := range rules.ConcludeRules() {
		rows[r.Name] = rows[r.Name] || strings.Contains(r.Then, "stop 3")
	}
	for name, halts := range rows {
		if has := strings.Contains(string(page), "| `"+name+"` |"); has != halts {
			t.Errorf("%s: halts %v, on the page %v", name, halts, has)
		}
	}
}

// understood is the error that ralph has with the arguments of a command in a document.
func understood(line string) error {
	args, err := shell.Fields(line, nil) // without the comment
	if err != nil {
		return err
	}
	root, _ := newRootCmd(cmdline.New())
	c, rest, err := root.Find(cmdline.Join(args))
	if err != nil {
		return err
	}
	if err := c.ParseFlags(rest); err != nil {
		return err
	}
	return c.ValidateArgs(c.Flags().Args())
}

// A link of a document leads to a file, and to a heading in it.
func TestDocs_links_leadToHeadings(t *testing.T) {
	for _, page := range documents(t) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(string(data), -1) {
			file, heading, _ := strings.Cut(link[1], "#")
			if strings.Contains(file, "://") {
				continue
			}
			target := filepath.Join(filepath.Dir(page), file)
			if file == "" {
				target = page
			}
			text, err := os.ReadFile(target)
			if err != nil {
				if info, statErr := os.Stat(target); statErr != nil || !info.IsDir() {
					t.Errorf("%s: %s: %v", page, link[1], err)
				}
				continue
			}
			if heading != "" && !slices.Contains(anchors(string(text)), heading) {
				t.Errorf("%s: %s: no such heading", page, link[1])
			}
		}
	}
}

// anchors are the names of the headings of a page in links.
func anchors(page string) []string {
	var all []string
	for line := range strings.Lines(page) {
		if text := strings.TrimLeft(line, "#"); text != line {
			text = regexp.MustCompile(`[^\w\s-]`).ReplaceAllString(strings.ToLower(strings.TrimSpace(text)), "")
			all = append(all, strings.ReplaceAll(text, " ", "-"))
		}
	}
	return all
}
