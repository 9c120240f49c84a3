//go:build !windows

// Command shipped writes what a package of ralph installs beside the programs: a man page for
// each verb, and completions for bash, zsh and fish.
//
//	go run ./cmd/internal/shipped DIR VERSION
//
// It is a program of its own because the writer of man pages would make ralph larger.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"ralph/cmd/internal/cli"
	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/hub"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: go run ./cmd/internal/shipped DIR VERSION")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "shipped:", err)
		os.Exit(1)
	}
}

// write writes DIR/man/ralph*.1, also of ralph-hub, DIR/completions/ralph.bash, _ralph and ralph.fish.
func write(dir, version string) error {
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, folder := range []string{man, completions} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	root := cli.Root()
	if err := shells(root, completions); err != nil {
		return fmt.Errorf("write completions: %w", err)
	}
	root.DisableAutoGenTag = true // it has the date of the build
	// Without a date, the same tree makes the same pages.
	header := &doc.GenManHeader{Section: "1", Source: "ralph " + version, Manual: "ralph", Date: &time.Time{}}
	other := hub.Root()
	other.DisableAutoGenTag = true
	for _, program := range []*cobra.Command{root, other} {
		prepare(program)
		if err := doc.GenManTree(program, header, man); err != nil {
			return fmt.Errorf("write man pages: %w", err)
		}
	}
	return tidied(man)
}

func shells(root *cobra.Command, dir string) error {
	if err := root.GenBashCompletionFileV2(filepath.Join(dir, "ralph.bash"), true); err != nil {
		return err
	}
	if err := root.GenZshCompletionFile(filepath.Join(dir, "_ralph")); err != nil {
		return err
	}
	return root.GenFishCompletionFile(filepath.Join(dir, "ralph.fish"), true)
}

// prepare shows in the page of a verb what its help shows, as text rather than Markdown.
func prepare(cmd *cobra.Command) {
	cmdline.HideOptions(cmd)
	plain := strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`).Replace
	cmd.Long = plain(cmd.Long)
	for _, child := range cmd.Commands() {
		prepare(child)
	}
}

// tidied removes from the pages in dir what the writer cannot leave out: the date, and false as
// the value of a flag that is its own. A value that has no default is shown as VALUE.
func tidied(dir string) error {
	words := strings.NewReplacer(`"Jan 0001"`, `""`, "[=false]", "", `\fP=""`, `\fP=VALUE`, "\\fP=\n", "\\fP=VALUE\n")
	pages, err := fs.Glob(os.DirFS(dir), "*.1")
	for _, page := range pages {
		page = filepath.Join(dir, page)
		text, readErr := os.ReadFile(page) // file: a page that this program made
		if readErr != nil {
			return readErr
		}
		if err := os.WriteFile(page, []byte(words.Replace(string(text))), 0o644); err != nil { // file: a page that this program made
			return err
		}
	}
	return err
}
