package hub

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/pflag"

	"ralph/cmd/internal/cmdline"
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
		"fleet --listen 1", "proxy", "bridge --socket s --proxy-port 1", "bridge -- true", "mcp x",
		"worker --join foo", "worker --join http://x", "workers --fleet nats://u:p@h:1x",
		"turn --fleet nats://h:1 --creds /nosuch"} {
		if err := hub(t.Context(), t.Output(), strings.Fields(line)...); !errors.As(err, new(*cmdline.ExitError)) {
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
		"proxy":                 "proxy needs --socket",
		"--nosuch":              "unknown flag: --nosuch; see: ralph-hub --help",
		"fleet --nosuch":        "unknown flag: --nosuch; see: ralph-hub fleet --help",
		"workrs":                `unknown command "workrs" for "ralph-hub"; did you mean workers?`,
		"workers --creds /no":   "--creds: stat /no: no such file or directory",
	} {
		out := &strings.Builder{}
		err := hub(t.Context(), out, strings.Fields(line)...)
		if !errors.As(err, new(*cmdline.ExitError)) || err.Error() != want || out.Len() > 0 {
			t.Errorf("%s: %v, want %s; printed %q", line, err, want, out)
		}
	}
}
