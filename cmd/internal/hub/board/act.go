package board

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/act"
)

// verb is an action that a form may ask for. Its button's value is the name of the action, followed by
// a space and the id it applies to, if it needs one.
type verb struct {
	living bool // it needs a run that is alive
	args   func(about, text string) []string
}

func verbs() map[string]verb {
	plain := func(args ...string) func(string, string) []string {
		return func(string, string) []string { return args }
	}
	return map[string]verb{
		"pause": {true, plain("pause")}, "resume": {true, plain("resume")}, "skip": {true, plain("skip")},
		"stop": {true, plain("stop")},
		"answer": {false, func(id, text string) []string {
			return []string{"answer", "--by=" + source, "--", id, text}
		}},
		"option": {false, func(about, _ string) []string {
			id, n, _ := strings.Cut(about, " ")
			return []string{"answer", "--by=" + source, "--option=" + n, "--", id}
		}},
		"accept": {false, func(n, _ string) []string { return []string{"accept", "--", n} }},
		"add":    {false, func(_, text string) []string { return []string{"task", "add", "--", text} }},
		"first":  {false, func(id, _ string) []string { return []string{"task", "move", "--first", "--", id} }},
		"last":   {false, func(id, _ string) []string { return []string{"task", "move", "--last", "--", id} }},
	}
}

// source names the dashboard in what ralph records of an action.
const source = "dashboard"

// act runs the verb that a form asks for.
func (b *Board) act(w http.ResponseWriter, r *http.Request) {
	p, ok := b.project(w, r)
	if !ok {
		return
	}
	if !b.Actions {
		b.fail(w, r, http.StatusForbidden, "this dashboard only shows; to act, start it with: ralph serve --actions")
		return
	}
	if err := r.ParseForm(); err != nil {
		b.fail(w, r, http.StatusRequestEntityTooLarge, "the form cannot be read, or has more than 64 KiB")
		return
	}
	if status, why := b.Door.MayAct(r); status != http.StatusOK {
		b.fail(w, r, status, why)
		return
	}
	name, about, _ := strings.Cut(r.PostFormValue("do"), " ")
	v, known := verbs()[name]
	text := strings.TrimSpace(termtext.Clean(r.PostFormValue("text")))
	switch _, alive := p.reader().Owner(); {
	case !known:
		b.fail(w, r, http.StatusBadRequest, "there is no such action")
		return
	case slices.Contains([]string{"answer", "add"}, name) && text == "":
		b.fail(w, r, http.StatusBadRequest, "the text is empty")
		return
	case v.living && !alive:
		b.fail(w, r, http.StatusConflict, "no run is alive")
		return
	}
	line, done := b.run(r.Context(), p, v.args(about, text))
	to := "/p/" + p.Key + "/"
	shown := page{Title: p.Name(), Back: to, Body: "said", Data: said{Text: line, Bad: !done, To: to, Soon: done}}
	if !done {
		shown.Status = http.StatusConflict
	}
	b.show(w, r, shown)
}

// run runs a verb in the project, as a person there would, and records it.
func (b *Board) run(ctx context.Context, p project, args []string) (line string, done bool) {
	said := act.In(b.Ralph, p.Dir).Run(context.WithoutCancel(ctx), args...) // the client may leave meanwhile
	line = termtext.Fit(said.Line(), 500)
	record(p.reader(), args, line)
	return line, said.Err == nil
}

// record notes an action in the project. It ignores errors: the action is over.
func record(r *state.Reader, args []string, said string) {
	project := state.Project(r.Dir())
	line, _ := json.Marshal(map[string]any{"time": time.Now(), "source": source, "args": args, "said": said})
	_ = project.MkdirAll(r.HubDir(), 0o755)
	f, err := project.OpenFile(filepath.Join(r.HubDir(), "actions.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = f.Write(append(line, '\n'))
		_ = f.Close()
	}
}
