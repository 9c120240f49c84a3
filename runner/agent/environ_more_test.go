package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestForCall_variablesOfAnotherSession_areReplaced(t *testing.T) {
	a := Spec{Name: "a", Env: Variables{Keys: []string{"A_KEY"}, Set: []string{"A_MODE=1"}, SetAsRoot: []string{"A_ROOT=1"}, Unset: []string{"A_*"}, Keep: []string{"A_KEY"}}}
	env := []string{"A_KEY=k", "A_MODE=0", "A_OTHER=x", "B_TOKEN=t", "LANG=C"}
	if got := a.env(Request{Env: env}); !slices.Equal(got, []string{"A_KEY=k", "LANG=C", "A_MODE=1"}) {
		t.Errorf("%q", got)
	}
	if got := a.env(Request{Root: true, ArgvCall: ArgvCall{PermissionMode: PermitBypass}}); !slices.Equal(got, []string{"A_MODE=1", "A_ROOT=1"}) {
		t.Errorf("%q", got)
	}
}

func TestChecks_nothingPasses_isNotNil(t *testing.T) {
	if got := (EnvFilter{}).Checks([]string{"B_TOKEN=t"}); got == nil || len(got) > 0 {
		t.Errorf("%#v", got) // nil would be all of ralph's environment
	}
}

func FuzzValidEntry(f *testing.F) {
	for _, seed := range []string{"A", "!A_*", "!", "[a", "A?", "\\", "é", "*\n"} {
		f.Add(seed, "A")
	}
	f.Fuzz(func(t *testing.T, entry, name string) {
		if !validEnvEntry(entry) {
			return
		}
		glob, pass := strings.CutPrefix(entry, "!")
		filter := EnvFilter{Exclude: []string{entry}}
		env := []string{strings.ReplaceAll(name, "=", "") + "=v"}
		if glob == "*" && len(filter.Checks(env)) == 1 != pass {
			t.Errorf("%q: %q", entry, filter.Checks(env))
		}
		literal := strings.NewReplacer("*", "", "?", "x").Replace(glob) + "=v"
		if got := filter.Checks([]string{literal}); len(got) == 1 != pass {
			t.Errorf("%q does not decide about %q: %q", entry, literal, got)
		}
	})
}

func BenchmarkSecrets(b *testing.B) {
	env := make([]string, 40)
	for i := range env {
		env[i] = fmt.Sprintf("SOME_VARIABLE_OF_A_SHELL_%d=/some/value", i)
	}
	for b.Loop() {
		EnvFilter{}.Secrets(Spec{Name: "a"}, Request{Env: env})
	}
}
