package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/state"
)

// hooksIn runs the verb in a project with these hooks of the user.
func hooksIn(t *testing.T, env []string, args ...string) (out string, code int) {
	t.Helper()
	dir := t.TempDir()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var text strings.Builder
	env = append(env, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "HOME="+dir, "PATH="+os.Getenv("PATH"))
	cmd := newHooksCmd(&cmdline.Factory{In: null, Out: &text, Err: &text, Dir: dir, Env: env})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.Execute()
	if exit := (*cmdline.ExitError)(nil); errors.As(err, &exit) {
		return text.String() + exit.Text, exit.Code
	}
	if err != nil {
		return text.String() + err.Error(), state.ExitError
	}
	return text.String(), 0
}

func TestHooks(t *testing.T) {
	for _, tt := range []struct {
		name  string
		env   []string
		args  []string
		code  int
		wants []string
	}{
		{"lists the points without hooks", nil, nil, 0, []string{"no hooks", "pre_iteration", "before each iteration"}},
		{"lists hooks", []string{"HOOK_ON_LIMIT=wake me"}, nil, 0, []string{"on_limit  wake me"}},
		{"shows the sample and what follows", []string{`HOOK_PRE_TASK=echo "for $TASK_NAME"; echo '{"note": "use tabs"}'`}, []string{"test", "pre_task"}, 0,
			[]string{"for A sample task", "done in", "the next prompt would say: A hook of the user (pre_task) says: use tabs"}},
		{"says what would not happen", []string{`HOOK_PRE_COMMIT=echo '{"block": true, "reason": "no"}'`}, []string{"test", "pre_commit"}, 0, []string{"blocks: no", "this would not happen: the commit"}},
		{"fails when the hook does", []string{"HOOK_ON_HALT=echo $RALPH_EXIT_CODE; exit 4"}, []string{"test", "on_halt"}, 1, []string{"failed with exit code 4: 3"}},
		{"refuses a point without hooks", nil, []string{"test", "on_error"}, 2, []string{"no hook runs at on_error", "HOOK_ON_ERROR"}},
		{"knows the commit of a merge", []string{"HOOK_PRE_MERGE=echo commit $RALPH_COMMIT"}, []string{"test", "pre_merge"}, 0, []string{"commit HEAD"}},
		{"refuses what is no point", nil, []string{"test", "lunch"}, 2, []string{`"lunch" is not a hook point; known: run_start`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, code := hooksIn(t, tt.env, tt.args...)
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			for _, want := range tt.wants {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
		})
	}
}
