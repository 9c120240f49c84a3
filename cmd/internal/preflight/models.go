package preflight

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/tidwall/gjson"

	"ralph/cmd/internal/cmdline"
	"ralph/ptyexec"
	"ralph/runner/agent"
	"ralph/runner/agent/environ"
	"ralph/runner/pool"
)

const (
	// ModelsBound is how long a program may take to list its models, or to say
	// whether it is logged in.
	ModelsBound = 10 * time.Second
	modelsKept  = 24 * time.Hour
	maxModels   = 500
)

// Models returns the names of the agent's models: what its program lists, at most
// a day old, else those in its documentation; nil: unknown. An agent may take
// others, too. stateHome is where ralph keeps what belongs to the user.
func (p *Project) Models(ctx context.Context, one pool.Agent, stateHome string) []string {
	path, err := p.lookPath(one)
	if err != nil || len(one.Spec.ModelsArgs) == 0 {
		return one.Spec.Models
	}
	kept := keptModels{file: filepath.Join(stateHome, "ralph", "models", one.Spec.Name+".json"), Program: path}
	if info, err := os.Stat(path); err == nil {
		kept.Changed = info.ModTime()
	}
	if names := kept.read(); len(names) > 0 {
		return names
	}
	out, exit, err := p.inquire(ctx, one, inquiry{args: one.Spec.ModelsArgs, bound: ModelsBound})
	if err != nil || exit.Cause != ptyexec.CauseExited || exit.Code != 0 {
		return one.Spec.Models
	}
	if kept.Names = modelNames(out); len(kept.Names) == 0 {
		return one.Spec.Models
	}
	kept.write()
	return kept.Names
}

// keptModels is the list of a program's models, for as long as the program stays
// the same.
type keptModels struct {
	file    string
	Program string    `json:"program"`
	Changed time.Time `json:"changed"` // when the program was
	Listed  time.Time `json:"listed"`
	Names   []string  `json:"names"`
}

func (k keptModels) read() []string {
	var was keptModels
	data, err := os.ReadFile(k.file)
	if err != nil || json.Unmarshal(data, &was) != nil {
		return nil
	}
	age := time.Since(was.Listed)
	if was.Program != k.Program || !was.Changed.Equal(k.Changed) || age < 0 || age > modelsKept {
		return nil
	}
	return was.Names
}

// write keeps the list. Without it the next look only takes longer.
func (k keptModels) write() {
	k.Listed = time.Now()
	data, err := json.Marshal(k)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(k.file), 0o700)
	}
	if err == nil {
		_ = renameio.WriteFile(k.file, data, 0o600)
	}
}

// modelNames reads what a program prints: a JSON object with models, or a name
// alone on its line, before " - ", two blanks or a bracket, or in square brackets.
func modelNames(out string) (names []string) {
	if at := strings.Index(out, `{"models"`); at >= 0 {
		for _, m := range gjson.Get(out[at:], "models").Array() {
			if name := m.Get("slug").String(); name != "" && m.Get("visibility").String() != "hide" && len(names) < maxModels {
				names = append(names, cmdline.OneLine(cmdline.Inert(name)))
			}
		}
		return names
	}
	line := regexp.MustCompile(`^[\s*•>-]*(?:([A-Za-z0-9][\w./:@+-]*)(?:\s*$|\s+[-–(*]|\s{2,}|\t)|.*\[([A-Za-z0-9][\w./:@+-]*)\])`)
	for text := range strings.Lines(cmdline.Inert(out)) {
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
	for _, row := range p.Config.EnvFilter().List(one.Spec, agent.Request{Env: env, Model: p.Config.Model}) {
		if row.Agent == environ.Passes && row.Checks == environ.Held {
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
