// Package fakebd stands in for bd, the program of Beads, in tests. Its flags, the envelope of
// its JSON and its words for states follow the documentation of bd.
package fakebd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Init acts as bd if the test binary is called bd. TestMain calls it first.
func Init() {
	if filepath.Base(os.Args[0]) != "bd" {
		return
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Install puts bd on PATH, and creates a project with these issues, given as JSON.
func Install(t *testing.T, issues string) (project string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin, project := t.TempDir(), t.TempDir()
	if err := errors.Join(os.Symlink(self, filepath.Join(bin, "bd")), os.Mkdir(filepath.Join(project, ".beads"), 0o755),
		os.WriteFile(filepath.Join(project, database), []byte(issues), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return project
}

const (
	database = ".beads/database.json"
	calls    = ".beads/calls"
)

// Calls returns the command lines so far, one per line.
func Calls(t *testing.T, project string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(project, calls))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(data)
}

type issue = map[string]any

func run(args []string) error {
	if err := note(args); err != nil {
		return err
	}
	data, err := os.ReadFile(database)
	if err != nil {
		return err
	}
	var all []issue
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	flags, words := parsed(args[1:])
	one := func() issue {
		for _, i := range all {
			if len(words) > 0 && i["id"] == words[0] {
				return i
			}
		}
		return nil
	}
	var answer any
	switch i := one(); {
	case args[0] == "list" && flags["--all"] == "true" && flags["--limit"] == "0":
		return say(all)
	case args[0] == "create":
		id := fmt.Sprintf("bd-new%d", len(all))
		all = append(all, issue{"id": id, "title": flags["--title"], "status": "open", "priority": 2})
		answer = all[len(all)-1]
	case i == nil:
		return fmt.Errorf("no issue found matching %q", words)
	case args[0] == "close":
		i["status"], i["close_reason"] = "closed", flags["--reason"]
		answer = []issue{i}
	case args[0] == "reopen":
		i["status"] = "open"
		answer = []issue{i}
	case args[0] == "update":
		if !slices.Contains([]string{"open", "in_progress", "blocked", "deferred"}, flags["--status"]) {
			return fmt.Errorf("invalid status %q", flags["--status"])
		}
		i["status"] = flags["--status"]
		answer = []issue{i}
	default:
		return fmt.Errorf("unknown command %q", args)
	}
	if data, err = json.Marshal(all); err != nil {
		return err
	}
	if err := os.WriteFile(database, data, 0o600); err != nil {
		return err
	}
	return say(answer)
}

// note adds a call to the list.
func note(args []string) error {
	log, err := os.OpenFile(calls, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(log, strings.Join(args, " "))
	return errors.Join(err, log.Close())
}

// say prints an answer, in the envelope if the caller asked for one.
func say(answer any) error {
	if os.Getenv("BD_JSON_ENVELOPE") == "1" {
		answer = map[string]any{"schema_version": 1, "data": answer}
	}
	return json.NewEncoder(os.Stdout).Encode(answer)
}

// parsed splits arguments into flags and words. Only --all and --json take no value.
func parsed(args []string) (flags map[string]string, words []string) {
	flags = map[string]string{}
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--all" || a == "--json":
			flags[a] = "true"
		case strings.HasPrefix(a, "--") && i+1 < len(args):
			i++
			flags[a] = args[i]
		default:
			words = append(words, a)
		}
	}
	return flags, words
}
