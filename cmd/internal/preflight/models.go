package preflight

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/pool"
)

const (
	// ModelsBound is how long a program may take to list its models, or to say
	// whether it is logged in.
	ModelsBound = 10 * time.Second
)

// Models returns the names of the agent's models: what its program lists, at most
// a day old, else those in its documentation; nil: unknown. An agent may take
// others, too. stateHome is where ralph keeps what belongs to the user.
func (p *Project) Models(ctx context.Context, one pool.Agent, stateHome string) []string {
	path, err := p.lookPath(one)
	if err != nil || len(one.Spec.ModelsArgs) == 0 {
		return one.Spec.Models
	}
	kept := modelList{File: filepath.Join(stateHome, "ralph", "models", one.Spec.Name+".json"), Program: path}
	if info, err := os.Stat(path); err == nil {
		kept.Changed = info.ModTime()
	}
	if names := kept.Read(); len(names) > 0 {
		return names
	}
	out, exit, err := p.inquire(ctx, one, inquiry{args: one.Spec.ModelsArgs, bound: ModelsBound})
	if err != nil || exit.Cause != ptyexec.CauseExited || exit.Code != 0 {
		return one.Spec.Models
	}
	if kept.Names = modelNames(out); len(kept.Names) == 0 {
		return one.Spec.Models
	}
	kept.Write()
	return kept.Names
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
	for _, row := range p.Config.EnvFilter().List(one.Spec, agent.Request{ArgvCall: agent.ArgvCall{Model: p.Config.Model}, Env: env}) {
		if row.Agent == agent.EnvPasses && row.Checks == agent.EnvHeld {
			return LoginKey
		}
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
