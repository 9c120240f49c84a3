package service

import (
	"fmt"
	"path/filepath"
	"strings"
)

// unit returns a systemd user unit. Without OOMPolicy, systemd would end the run when the
// kernel kills a program of the agent for lack of memory.
func unit(s Service) (string, error) {
	if strings.ContainsAny(s.Program, `"'\`) {
		return "", fmt.Errorf("the program is %q: systemd cannot start one with a quote or a backslash in its path",
			s.Program)
	}
	// systemd expands only % in the program's path and reads no quotes in the folder. The
	// slash protects a space or a backslash at its end.
	words := []string{`"` + percent(s.Program) + `"`}
	for _, arg := range s.Argv()[1:] {
		words = append(words, quote(strings.ReplaceAll(arg, "$", "$$")))
	}
	return fmt.Sprintf(`# %s
[Unit]
Description=ralph in %s: resume an interrupted run

[Service]
ExecStart=%s
WorkingDirectory=%s/
Environment=%s
StandardOutput=journal
Restart=no
KillMode=mixed
TimeoutStopSec=%d
SuccessExitStatus=143
OOMPolicy=continue

[Install]
WantedBy=default.target
`, mark, percent(filepath.Base(s.Dir)), strings.Join(words, " "), percent(strings.TrimRight(s.Dir, "/")),
		quote("PATH="+s.Path), stopTimeout), nil
}

// unitProject is the inverse of unit.
func unitProject(text string) string {
	for line := range strings.Lines(text) {
		if dir, ok := strings.CutPrefix(line, "WorkingDirectory="); ok {
			return filepath.Clean(strings.ReplaceAll(strings.TrimSuffix(dir, "\n"), "%%", "%"))
		}
	}
	return ""
}

func percent(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// quote makes text without control characters one word.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(s) + `"`
}

func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./=:+@,", r)
}
