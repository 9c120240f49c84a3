package mockllm

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// query is what matters in a model request, whatever its API.
type query struct {
	model    string
	messages []message
	tools    []declared
	side     bool   // not part of the agent's loop
	shell    string // what the model calls where no shell is declared
}

// message is one entry of a conversation.
type message struct {
	role  string // user, assistant, tool or system
	texts []string
}

// declared is a tool that the agent offers to the model.
type declared struct {
	name   string
	params schema
}

// schema is the JSON schema of a tool's input.
type schema struct {
	Properties map[string]json.RawMessage `json:"properties"`
}

// content is a list of parts, the texts of which count; a plain string is one text.
type content []part

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (c *content) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(b, (*[]part)(c))
}

func (c content) texts() []string {
	var texts []string
	for _, p := range c {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return texts
}

// prompt returns the user's words at the end of the conversation, without what
// the CLIs add to them. fresh is false when the conversation ends with the
// result of a tool or the model's own words.
func (q *query) prompt() (text string, fresh bool) {
	var words []string
	for _, m := range slices.Backward(q.messages) {
		switch m.role {
		case "system":
			continue
		case "tool":
			return "", false
		case "user":
			for _, t := range slices.Backward(m.texts) {
				if !reminder(t) {
					words = append(words, t)
				}
			}
			continue
		}
		break
	}
	slices.Reverse(words)
	return strings.Join(words, "\n"), len(words) > 0
}

// echo is what the group of a regular expression matches in what the user said.
func (q *query) echo(pattern string) string {
	find := regexp.MustCompile(pattern)
	for _, m := range q.messages {
		for _, t := range m.texts {
			if found := find.FindStringSubmatch(t); found != nil {
				return found[1]
			}
		}
	}
	return ""
}

func reminder(text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc([]string{"<system-reminder>", "<environment_context>", "<session_context>",
		"# User State"}, func(start string) bool { return strings.HasPrefix(text, start) })
}

// answer picks the step that answers a request and logs it. limit puts a
// usage limit into the vendor's words; the step then carries it as its Error.
func (x *exchange) answer(q query, limit func(l *Limit, resetsAt, now time.Time) *APIError) Step {
	x.query = q
	x.entry.Model, x.entry.Messages = q.model, len(q.messages)
	if q.side {
		x.entry.Kind = Side
		x.server.record(x.entry)
		return Step{Text: "Mock title"}
	}
	text, fresh := q.prompt()
	x.entry.Prompt = text
	st, resetsAt := x.turn(fresh)
	if st.Echo != "" {
		st.Text = strings.ReplaceAll(st.Text, "{echo}", q.echo(st.Echo))
	}
	if st.Limit != nil {
		st.Error = limit(st.Limit, resetsAt, x.entry.Time)
		for k, v := range st.Limit.Header {
			x.w.Header().Set(k, v)
		}
	}
	return st
}

// find returns the first of these tools that is declared.
func (q *query) find(names ...string) (declared, bool) {
	for _, n := range names {
		if i := slices.IndexFunc(q.tools, func(d declared) bool { return d.name == n }); i >= 0 {
			return q.tools[i], true
		}
	}
	return declared{}, false
}

// key returns the first of these names that the tool's input has, else the first.
func (d declared) key(names ...string) string {
	for _, n := range names {
		if _, ok := d.params.Properties[n]; ok {
			return n
		}
	}
	return names[0]
}

// call turns a scripted tool call into one of a tool that the agent declares.
func (x *exchange) call(t Tool) (name string, input map[string]any) {
	switch t.Name {
	case "bash":
		return x.query.shellCall(t.Command)
	case "write":
		d, ok := x.query.find("Write", "write", "write_file", "create_file")
		if !ok {
			return x.query.shellCall("printf %s " + quote(t.Content) + " >" + quote(t.Path))
		}
		path := t.Path
		if dir := x.workingDir(); dir != "" && !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return d.name, map[string]any{d.key("file_path", "filePath", "path"): path, "content": t.Content}
	}
	return t.Name, t.Input
}

func (q *query) shellCall(command string) (name string, input map[string]any) {
	d, ok := q.find("Bash", "bash", "run_shell_command", "exec_command")
	if !ok {
		d.name = q.shell
	}
	input = map[string]any{d.key("command", "cmd"): command}
	for k, v := range map[string]any{"description": "run a scripted command", "is_background": false} {
		if _, ok := d.params.Properties[k]; ok {
			input[k] = v
		}
	}
	return d.name, input
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// workingDir returns the agent's working directory: every CLI that has a tool for
// writing files wants absolute paths from it and names the place somewhere.
func (x *exchange) workingDir() string {
	m := regexp.MustCompile(`(?i)(?:working directory: |working in the directory: |` +
		`workspace directories:\*\*\\n *- )(/[^"\\]+)`).FindSubmatch(x.body)
	if m == nil {
		return ""
	}
	return string(m[1])
}
