package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ralph/internal/world"
)

const bashCompletion = "/usr/share/bash-completion/bash_completion"

// shells are started as their users have them, with the completion where packages put it.
var shells = []struct {
	name, needs string
	place       string // of the completion, below the home
	rc          string // file of the user's settings, below the home
	settings    string
	args        []string
}{
	{"bash", bashCompletion, "share/bash-completion/completions/ralph", ".bashrc", ". " + bashCompletion + "\n", []string{"-i"}},
	{"zsh", "", "functions/_ralph", ".zshrc", "fpath=($HOME/functions $fpath)\nautoload -U compinit\ncompinit -u -D\n", []string{"-i"}},
	{"fish", "", "share/fish/vendor_completions.d/ralph.fish", "unused", "", []string{"-i"}},
}

// Tab completes a verb and the value of a flag: the shell then starts what was completed.
func TestCompletion_eachShell_completesVerbsAndValues(t *testing.T) {
	world.Long(t, "a terminal for each shell")
	files := shipped(t)
	for _, shell := range shells {
		t.Run(shell.name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(shell.name); err != nil {
				t.Skipf("needs %s", shell.name)
			}
			if _, err := os.Stat(shell.needs); shell.needs != "" && err != nil {
				t.Skip("needs bash-completion")
			}
			w := world.New(t, "")
			source := map[string]string{"bash": "ralph.bash", "zsh": "_ralph", "fish": "ralph.fish"}[shell.name]
			script, err := os.ReadFile(filepath.Join(files, "completions", source))
			w.Do(err)
			w.Write("../"+shell.place, string(script))
			w.Write("../"+shell.rc, shell.settings)
			// Without this folder the first fish of a user reads all man pages, and goes on after its end.
			w.Write("../.local/share/fish/generated_completions/none", "")
			// What the shell starts is written down; what a completion asks goes to ralph itself.
			w.Write("../bin/ralph", "#!/bin/sh\ncase $1 in __complete*) exec "+world.Programs(t)+"/ralph \"$@\";; esac\necho \"$*\" >>"+w.Home+"/started\n")
			w.Do(os.Chmod(filepath.Join(w.Home, "bin/ralph"), 0o755))
			w.Set("PATH", w.Home+"/bin:"+os.Getenv("PATH"))
			w.Set("XDG_DATA_DIRS", w.Home+"/share:/usr/share")
			w.Write("README", "in the project\n")
			p, keys := w.OnTerminal(shell.name, shell.args...)
			began := func() bool {
				_, err := os.Stat(filepath.Join(w.Home, "ready"))
				return err == nil
			}
			_, err = keys.WriteString("touch $HOME/ready\r")
			w.Do(err)
			w.Until("prompt of "+shell.name, began, p.Said)
			for _, c := range []struct{ typed, want string }{
				{"ralph iterat\t\r", "iterations\n"},
				{"ralph run --on-limit st\t\r", "iterations\nrun --on-limit stop\n"},
			} {
				_, err := keys.WriteString(c.typed)
				w.Do(err)
				w.Until(c.typed, func() bool {
					got, _ := os.ReadFile(filepath.Join(w.Home, "started"))
					return string(got) == c.want
				}, p.Said)
			}
			_, err = keys.WriteString("exit\r")
			w.Do(err)
			p.Ends(0)
		})
	}
}
