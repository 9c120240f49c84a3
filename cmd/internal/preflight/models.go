package preflight

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ralph/logs/termtext"
	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/pool"
)

const (
	// ModelsBound is how long a program may take to list its models, or to say
	// whether it is logged in.
	ModelsBound = 10 * time.Second
)

// Models returns the names of the agent's models: what its program lists, else those in its documentation; nil:
// unknown. An agent may take others, too.
func (p *Project) Models(ctx context.Context, one pool.Agent) []string {
	if len(one.Spec.ModelsArgs) > 0 {
		out, exit, err := p.inquire(ctx, one, inquiry{args: one.Spec.ModelsArgs, bound: ModelsBound})
		if names := modelNames(out); err == nil && exit.Cause == ptyexec.CauseExited && exit.Code == 0 && len(names) > 0 {
			return names
		}
	}
	return one.Spec.Models
}

// The answers of Login.
const (
	LoginYes     = "yes"
	LoginKey     = "key" // a variable has one; nobody asked whether it is valid
	LoginNo      = "no"
	LoginUnknown = "?"
)

// Login reports whether the agent is logged in, as far as that can be known
// without a call.
func (p *Project) Login(ctx context.Context, one pool.Agent) string {
	env := slices.DeleteFunc(slices.Clone(p.Env), func(pair string) bool { return strings.HasSuffix(pair, "=") })
	if p.Config.EnvFilter().HasKey(one.Spec, agent.Request{ArgvCall: agent.ArgvCall{Model: p.Config.Model}, Env: env}) {
		return LoginKey
	}
	if len(one.Spec.LoginArgs) > 0 {
		_, exit, err := p.inquire(ctx, one, inquiry{args: one.Spec.LoginArgs, bound: ModelsBound})
		switch {
		case err != nil || exit.Cause != ptyexec.CauseExited:
			return LoginUnknown
		case exit.Code == 0:
			return LoginYes
		}
		return LoginNo
	}
	if home, err := os.UserHomeDir(); err == nil && one.Spec.LoginFile != "" {
		if info, err := os.Stat(filepath.Join(home, one.Spec.LoginFile)); err == nil && info.Size() > 0 {
			return LoginYes
		}
	}
	return LoginUnknown
}

const maxModels = 500

// modelNames reads what a program prints: a JSON object with models, or a name
// alone on its line, before " - ", two blanks or a bracket, or in square brackets.
func modelNames(out string) (names []string) {
	if at := strings.Index(out, `{"models"`); at >= 0 {
		for _, m := range gjson.Get(out[at:], "models").Array() {
			if name := m.Get("slug").String(); name != "" && m.Get("visibility").String() != "hide" &&
				len(names) < maxModels {
				names = append(names, termtext.Unwrap(termtext.Clean(name)))
			}
		}
		return names
	}
	line := regexp.MustCompile(`^[\s*•>-]*(?:([A-Za-z0-9][\w./:@+-]*)(?:\s*$|\s+[-–(*]|\s{2,}|\t)|` +
		`.*\[([A-Za-z0-9][\w./:@+-]*)\])`)
	for text := range strings.Lines(termtext.Clean(out)) {
		m := line.FindStringSubmatch(strings.TrimRight(text, "\r\n"))
		if m == nil || strings.HasSuffix(m[1], ":") {
			continue
		}
		if name := m[1] + m[2]; !slices.Contains(names, name) && len(names) < maxModels {
			names = append(names, name)
		}
	}
	return names
}
