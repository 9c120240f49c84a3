package hub

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The help of all flags reads alike, as in ralph.
func TestFlags_helpOfEach_isASentence(t *testing.T) {
	for _, cmd := range append(Root().Commands(), Root()) {
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			_, help := pflag.UnquoteUsage(flag)
			if !unicode.IsUpper([]rune(help)[0]) || !strings.HasSuffix(help, ".") {
				t.Errorf("%s --%s: %q", cmd.CommandPath(), flag.Name, help)
			}
		})
	}
}

func TestVerbs_each_hasAnExampleWithItsName(t *testing.T) {
	for _, cmd := range Root().Commands() {
		if !strings.Contains(cmd.Example, " "+cmd.CommandPath()) && !cmd.HasSubCommands() {
			t.Errorf("%s: %q", cmd.CommandPath(), cmd.Example)
		}
	}
}

func TestVerbs_mistakeInTheCommandLine_isUsage(t *testing.T) {
	alone(t)
	for _, line := range []string{"nonsense", "serve x", "worker x", "worker --slots 0", "fleet --nonsense",
		"fleet --listen 1", "proxy", "bridge --socket s --proxy-port 1", "bridge -- true", "acp agent", "mcp x",
		"workers --label A", "worker --join foo", "worker --join http://x", "workers --fleet nats://u:p@h:1x",
		"turn --fleet nats://h:1 --creds /nosuch", "completion nonsense", "completion bash x", "completion bash --nonsense"} {
		if err := hub(t.Context(), t.Output(), strings.Fields(line)...); !errors.As(err, &usageError{}) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// A mistake is said as ralph says it, and names what helps.
func TestVerbs_mistakeInTheCommandLine_namesTheHelp(t *testing.T) {
	alone(t)
	for line, want := range map[string]string{
		"mcp --project /nosuch": `--project "/nosuch" is not a folder`,
		"fleet x":               `fleet takes no arguments, but got "x"; see: ralph-hub fleet --help`,
		"completion bash x":     `bash takes no arguments, but got "x"; see: ralph-hub completion bash --help`,
		"proxy":                 "proxy needs --socket; see: ralph-hub proxy --help",
		"completion":            "ralph-hub completion needs one of: bash, fish, powershell, zsh",
		"completion nosuch":     `unknown command "nosuch" for "ralph-hub completion"; see: ralph-hub completion --help`,
		"--nosuch":              "unknown flag: --nosuch; see: ralph-hub --help",
		"fleet --nosuch":        "unknown flag: --nosuch; see: ralph-hub fleet --help",
		"top --help":            `unknown command "top" for "ralph-hub"; see: ralph-hub --help`,
		"workrs":                `unknown command "workrs" for "ralph-hub"; did you mean workers?`,
		"workers --creds /no":   "--creds: stat /no: no such file or directory",
	} {
		out := &strings.Builder{}
		err := hub(t.Context(), out, strings.Fields(line)...)
		if !errors.As(err, &usageError{}) || err.Error() != want || out.Len() > 0 {
			t.Errorf("%s: %v, want %s; printed %q", line, err, want, out)
		}
	}
}

// The shell offers names of files only where a file is expected, as in ralph.
func TestCompletion_files_areOfferedOnlyWhereOneIsExpected(t *testing.T) {
	directive := func(typed ...string) string {
		out := &strings.Builder{}
		if err := hub(t.Context(), out, append([]string{cobra.ShellCompRequestCmd}, typed...)...); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		return lines[len(lines)-1]
	}
	for _, cmd := range Root().Commands() {
		if cmd.DisableFlagParsing {
			continue // its words are another program's
		}
		if got := directive(cmd.Name(), ""); got != ":4" {
			t.Errorf("%s: %s", cmd.Name(), got)
		}
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			name, _ := pflag.UnquoteUsage(flag)
			want := ":4"
			if slices.Contains([]string{"FILE", "PATH"}, name) {
				want = ":0"
			} else if name == "DIR" {
				want = ":16"
			}
			if got := directive(cmd.Name(), "--"+flag.Name, ""); flag.NoOptDefVal == "" && got != want {
				t.Errorf("%s --%s: %s", cmd.Name(), flag.Name, got)
			}
		})
	}
}
