package monitor

import (
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
)

// keeper waits until the program ends. If it was not an orderly end, it restores the terminal and prints the report of the
// crash: the program's own output went to the screen that is gone then.
const keeper = `trap '' INT QUIT TTOU
report=$(cat <&3)
[ "$report" = ended ] && exit
stty "$1"
printf '\033[0m\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[?2004l\033[?1l\033>\033[?25h\033[?1049l%s\n' "$report"`

// keepTerminal starts a keeper, because a program that a signal or a panic ends can restore nothing. Call release after
// an orderly end.
func keepTerminal() (release func()) {
	release = func() {}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0) // file: a terminal
	if err != nil {
		return release
	}
	defer tty.Close()
	modes := exec.Command("stty", "-g") //nolint:noctx // it ends at once
	modes.Stdin = tty
	saved, err := modes.Output()
	if err != nil {
		return release
	}
	r, w, err := os.Pipe()
	if err != nil {
		return release
	}
	defer r.Close()
	cmd := exec.Command("sh", "-c", keeper, "sh", strings.TrimSpace(string(saved))) //nolint:noctx // it ends after us
	cmd.ExtraFiles = []*os.File{r}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	if cmd.Start() != nil {
		_ = w.Close()
		return release
	}
	_ = debug.SetCrashOutput(w, debug.CrashOptions{})
	return func() {
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		_, _ = w.WriteString("ended")
		_ = w.Close()
		_ = cmd.Wait()
	}
}
