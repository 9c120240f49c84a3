package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ralph/cmd/internal/cmdline"
)

// each calls do with the command and all below it, except those that cobra adds.
func each(cmd *cobra.Command, do func(*cobra.Command)) {
	if cmd.Name() == "completion" || cmd.Name() == "help" {
		return
	}
	do(cmd)
	for _, child := range cmd.Commands() {
		each(child, do)
	}
}

// The help of all flags reads alike: sentences, and names of values in capitals or the values themselves.
func TestFlags_helpOfEach_isASentenceWithANameForTheValue(t *testing.T) {
	value := regexp.MustCompile(`^([A-Z][A-Z_:=|]*|[a-z|-]+\|[a-z|-]+|json)$`)
	each(Root(), func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			name, help := pflag.UnquoteUsage(flag)
			first, _, _ := strings.Cut(help, " ")
			begins := unicode.IsUpper([]rune(help)[0]) || slices.Contains([]string{"allowed-tools", "worktree"}, first) // values
			if !begins || !strings.HasSuffix(help, ".") && !strings.Contains(help, ". (default ") {
				t.Errorf("%s --%s: %q is not a sentence", cmd.CommandPath(), flag.Name, help)
			}
			if name != "" && flag.NoOptDefVal != "true" && !flag.Hidden && !value.MatchString(name) {
				t.Errorf("%s --%s takes %q", cmd.CommandPath(), flag.Name, name)
			}
		})
	})
}

// takesFiles are the verbs whose argument is a file.
func takesFiles() []string { return []string{"ralph import"} }

// The shell offers names of files only where a file is expected.
func TestCompletion_files_areOfferedOnlyWhereOneIsExpected(t *testing.T) {
	otherHome(t)
	dir := t.TempDir()
	directive := func(typed ...string) string {
		out := &strings.Builder{}
		f := &cmdline.Factory{In: os.Stdin, Out: out, Err: &strings.Builder{}, Env: os.Environ(), Dir: dir}
		if text, code := execute(f, append([]string{cobra.ShellCompRequestCmd}, typed...)); code != 0 {
			t.Fatal(text)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		return lines[len(lines)-1]
	}
	offered := func(directive string) bool { return directive == ":0" || directive == ":16" }
	root := Root()
	options := map[string]bool{}
	root.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) { options[flag.Name] = true })
	each(root, func(cmd *cobra.Command) {
		words := strings.Fields(cmd.CommandPath())[1:]
		if got := directive(append(words, "")...); offered(got) != slices.Contains(takesFiles(), cmd.CommandPath()) {
			t.Errorf("%s: %s", cmd.CommandPath(), got)
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
			if flag.NoOptDefVal != "" || cmd != root && options[flag.Name] {
				return
			}
			name, _ := pflag.UnquoteUsage(flag)
			want := slices.Contains([]string{"FILE", "PATH", "DIR"}, name) || cmd.Name() == "init" && flag.Name == "from"
			if got := directive(append(words, "--"+flag.Name, "")...); offered(got) != want {
				t.Errorf("%s --%s: %s", cmd.CommandPath(), flag.Name, got)
			}
		})
	})
}
