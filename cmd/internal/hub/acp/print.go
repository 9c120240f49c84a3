package acp

import (
	"cmp"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"mvdan.cc/sh/v3/syntax"
)

const (
	maxResult    = 64 << 10 // bytes of a tool's result
	maxNarration = 4 << 10  // bytes of a paragraph that is not over
)

// object is a JSON object.
type object map[string]any

// printer turns the updates of a session into the lines of Claude Code's stream-json.
type printer struct {
	out     *json.Encoder
	session sdk.SessionId
	heard   bool // updates are of this turn
	calls   map[sdk.ToolCallId]*call
	line    strings.Builder // narration that is not printed yet
	final   strings.Builder // narration since the last tool call
	thought time.Time       // when a thought was last printed
	cost    *sdk.Cost       // of the session
	usage   *sdk.Usage      // of the turn
}

// call is a tool call.
type call struct {
	kind         sdk.ToolKind
	title        string
	input        object
	place        string // the file that it is about; empty: not said
	text         string // its result so far
	began, ended bool   // it has been printed
}

func newPrinter(out io.Writer) *printer {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	return &printer{out: enc, calls: map[sdk.ToolCallId]*call{}}
}

func (p *printer) print(o object) {
	o["session_id"] = p.session
	_ = p.out.Encode(o) // a reader that is gone ends this process
}

func (p *printer) begin(id sdk.SessionId, model string) {
	p.session = id
	p.print(object{"type": "system", "subtype": "init", "model": model})
}

// update prints what one update of the session says.
func (p *printer) update(u sdk.SessionUpdate) {
	if u.UsageUpdate != nil && u.UsageUpdate.Cost != nil {
		p.cost = u.UsageUpdate.Cost
	}
	if !p.heard {
		return
	}
	switch {
	case u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil:
		p.narrate(u.AgentMessageChunk.Content.Text.Text)
	case u.AgentThoughtChunk != nil && time.Since(p.thought) > time.Second: // it shows that the agent is at work
		p.thought = time.Now()
		p.print(object{"type": "system", "subtype": "thinking"})
	case u.ToolCall != nil:
		t := u.ToolCall
		p.tool(sdk.ToolCallUpdate{ToolCallId: t.ToolCallId, Kind: &t.Kind, Title: &t.Title, Status: &t.Status,
			Content: t.Content, Locations: t.Locations, RawInput: t.RawInput, RawOutput: t.RawOutput})
	case u.ToolCallUpdate != nil:
		t := u.ToolCallUpdate
		p.tool(sdk.ToolCallUpdate{ToolCallId: t.ToolCallId, Kind: t.Kind, Title: t.Title, Status: t.Status,
			Content: t.Content, Locations: t.Locations, RawInput: t.RawInput, RawOutput: t.RawOutput})
	}
}

// narrate prints whole paragraphs, and keeps the rest for later.
func (p *printer) narrate(text string) {
	p.line.WriteString(text)
	p.final.WriteString(text)
	if p.line.Len() > maxNarration {
		p.flush()
	} else if strings.Contains(text, "\n") { // else there is no new paragraph
		all := p.line.String()
		if end := strings.LastIndex(all, "\n\n"); end >= 0 {
			p.line.Reset()
			p.line.WriteString(all[end+2:])
			p.say(all[:end])
		}
	}
}

func (p *printer) say(text string) {
	if strings.TrimSpace(text) != "" {
		p.assistant(object{"type": "text", "text": text})
	}
}

func (p *printer) flush() {
	text := p.line.String()
	p.line.Reset()
	p.say(text)
}

func (p *printer) assistant(block object) {
	p.print(object{"type": "assistant", "message": object{"role": "assistant", "content": []object{block}}})
}

// tool prints a call once it is known what it does, and its result once it has one.
func (p *printer) tool(t sdk.ToolCallUpdate) {
	c := p.note(t)
	status := sdk.ToolCallStatus("")
	if t.Status != nil {
		status = *t.Status
	}
	over := status == sdk.ToolCallStatusCompleted || status == sdk.ToolCallStatusFailed
	if over || status == sdk.ToolCallStatusInProgress && len(c.input) > 0 {
		p.start(t.ToolCallId, c)
	}
	if over && !c.ended {
		c.ended = true
		p.print(object{"type": "user", "message": object{"role": "user", "content": []object{{"type": "tool_result",
			"tool_use_id": t.ToolCallId, "content": c.text, "is_error": status == sdk.ToolCallStatusFailed}}}})
		c.text, c.input = "", nil // a turn may have thousands of calls
	}
}

// note keeps what an update says of a call.
func (p *printer) note(t sdk.ToolCallUpdate) *call {
	c := p.calls[t.ToolCallId]
	if c == nil {
		c = &call{input: object{}}
		p.calls[t.ToolCallId] = c
	}
	if t.Kind != nil {
		c.kind = cmp.Or(*t.Kind, c.kind)
	}
	if t.Title != nil {
		c.title = cmp.Or(*t.Title, c.title)
	}
	if input, ok := t.RawInput.(map[string]any); ok && len(input) > 0 {
		c.input = input
	}
	if len(t.Locations) > 0 {
		c.place = t.Locations[0].Path
	}
	if text := resultOf(t); text != "" && !c.ended {
		c.text = text
	}
	return c
}

// start prints a call, once.
func (p *printer) start(id sdk.ToolCallId, c *call) {
	if c.began {
		return
	}
	c.began = true
	p.flush()
	p.final.Reset()
	p.assistant(object{"type": "tool_use", "id": id, "name": c.name(), "input": c.arguments()})
}

// refused prints that a call was not allowed.
func (p *printer) refused(t sdk.ToolCallUpdate) {
	c := p.note(t)
	p.start(t.ToolCallId, c)
	p.print(object{"type": "system", "subtype": "permission_denied", "tool_use_id": t.ToolCallId, "tool_name": c.name(),
		"message": "ALLOWED_TOOLS does not allow it"})
}

// asked is what a call is to do, for the policy.
func (p *printer) asked(t sdk.ToolCallUpdate) (kind sdk.ToolKind, command string) {
	c := p.note(t)
	return c.kind, c.command()
}

func (c *call) name() string {
	if name := tools()[c.kind]; name != "" {
		return name
	}
	name, _, _ := strings.Cut(c.title, " ")
	return cmp.Or(name, "tool")
}

// command is the shell command of a call.
func (c *call) command() string {
	for _, key := range []string{"command", "cmd", "script"} {
		switch v := c.input[key].(type) {
		case string:
			return v
		case []any:
			return joined(v)
		}
	}
	return c.title
}

// joined is the command of a list of words: what a shell is given in ["bash", "-lc", "go test ./..."], else the words,
// quoted.
func joined(list []any) string {
	var words []string
	for _, v := range list {
		word, ok := v.(string)
		if !ok {
			return ""
		}
		words = append(words, word)
	}
	shells := []string{"sh", "bash", "zsh", "dash"}
	if len(words) == 3 && slices.Contains(shells, path.Base(words[0])) && (words[1] == "-c" || words[1] == "-lc") {
		return words[2]
	}
	for i, word := range words {
		quoted, err := syntax.Quote(word, syntax.LangBash)
		if err != nil {
			return ""
		}
		words[i] = quoted
	}
	return strings.Join(words, " ")
}

// arguments returns the input under the keys of Claude Code's tool: command, file_path.
func (c *call) arguments() object {
	all := object{}
	for k, v := range c.input {
		all[k] = v
	}
	switch c.kind {
	case sdk.ToolKindExecute:
		all["command"] = c.command()
	case sdk.ToolKindRead, sdk.ToolKindEdit, sdk.ToolKindDelete, sdk.ToolKindMove:
		path := c.place
		for _, key := range []string{"file_path", "filePath", "path", "absolute_path"} {
			if text, ok := c.input[key].(string); ok {
				path = cmp.Or(path, text)
			}
		}
		if path != "" {
			all["file_path"] = path
		}
	}
	if len(all) == 0 {
		all["description"] = c.title
	}
	return all
}

// resultOf is the text of a call's result.
func resultOf(t sdk.ToolCallUpdate) string {
	var parts []string
	for _, c := range t.Content {
		switch {
		case c.Content != nil && c.Content.Content.Text != nil:
			parts = append(parts, c.Content.Content.Text.Text)
		case c.Diff != nil:
			parts = append(parts, "edited "+c.Diff.Path)
		}
	}
	if len(parts) == 0 {
		switch raw := t.RawOutput.(type) {
		case string:
			parts = append(parts, raw)
		case map[string]any:
			if text, ok := raw["output"].(string); ok {
				parts = append(parts, text)
			}
		}
	}
	text := strings.Join(parts, "\n")
	return strings.ToValidUTF8(text[:min(len(text), maxResult)], "")
}

// end prints the final record.
func (p *printer) end(stop sdk.StopReason, err error) {
	p.flush()
	o := object{"type": "result", "subtype": "success", "is_error": err != nil,
		"result": strings.TrimSpace(p.final.String())}
	switch {
	case err != nil:
		o["subtype"], o["result"] = "error_during_execution", err.Error()
	case stop == sdk.StopReasonMaxTurnRequests:
		o["subtype"] = "error_max_turns"
	case slices.Contains([]sdk.StopReason{sdk.StopReasonMaxTokens, sdk.StopReasonRefusal}, stop):
		o["stop_reason"] = stop
	case stop == sdk.StopReasonCancelled:
		o["subtype"], o["is_error"] = "error_during_execution", true
	}
	if u := p.usage; u != nil {
		count := func(n *int) int {
			if n == nil {
				return 0
			}
			return *n
		}
		o["usage"] = object{"input_tokens": u.InputTokens, "output_tokens": u.OutputTokens,
			"cache_read_input_tokens":     count(u.CachedReadTokens),
			"cache_creation_input_tokens": count(u.CachedWriteTokens)}
	}
	if p.cost != nil && p.cost.Currency == "USD" {
		o["total_cost_usd"] = p.cost.Amount
	}
	p.print(o)
}
