package agent

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ralph/ptyexec"
	"ralph/runner/agent/ending"
	"ralph/runner/agent/statusblock"
	"ralph/state"
)

var exited = ptyexec.Exit{Cause: ptyexec.CauseExited}

func exitedWith(code int) ptyexec.Exit { return ptyexec.Exit{Code: code, Cause: ptyexec.CauseExited} }

func classify(t *testing.T, agent string, exit ptyexec.Exit, lines ...string) Outcome {
	t.Helper()
	s := row(t, agent)
	tr, _ := decodeAll(s, []byte(strings.Join(lines, "\n")+"\n"))
	return s.Classify(tr, exit, recordedAt)
}

// A program without records says why it failed in its last lines.
func TestClassify_programThatFails_isQuoted(t *testing.T) {
	for _, c := range []struct {
		agent string
		lines []string
		want  string
	}{
		{"text", []string{"I begin.", "Error: no model is configured", "  at main.js:3", ""}, "exit code 3: Error: no model is configured"},
		{"text", []string{"I begin.", "boom", ""}, "exit code 3: boom"},
		{"text", nil, "exit code 3"},
		{"amp", []string{"cannot open the workspace"}, "exit code 3: cannot open the workspace"},
	} {
		o := classify(t, c.agent, exitedWith(3), c.lines...)
		if o.Class != ending.Crash || o.Evidence != c.want || !strings.HasSuffix(o.Reason, c.want) {
			t.Errorf("%s, %q: %+v, want %q", c.agent, c.lines, o, c.want)
		}
	}
}

// A time in a zone that nobody knows is a guess, and is said to be one.
func TestClassify_unknownTimeZone_isSaid(t *testing.T) {
	for zone, guess := range map[string]bool{"(Mars/Base)": true, "(America/Lima)": false, "+0530": false} {
		o := classify(t, "text", exitedWith(1), "Claude usage limit reached. Your limit will reset at 10am "+zone+".")
		if o.Class != ending.UsageLimit || o.ResetsAt.IsZero() || guess != strings.Contains(o.Reason, "time zone Mars/Base unknown, read as local time") {
			t.Errorf("%s: %+v", zone, o)
		}
	}
}

// wordings are real limit texts and their classes.
var wordings = []struct {
	text  string
	class ending.Class
	reset bool
}{
	{"Claude AI usage limit reached|1753441200", ending.UsageLimit, true},
	{"Claude usage limit reached. Your limit will reset at 10am (America/Lima).", ending.UsageLimit, true},
	{"5-hour limit reached ∙ resets 2am", ending.UsageLimit, true},
	{"Weekly limit reached · resets 10am (Asia/Seoul) · /upgrade to Max", ending.UsageLimit, true},
	{"You've hit your limit · resets 4:50am (Europe/Rome)", ending.UsageLimit, true},
	{"You've hit your session limit · resets 8:20pm (Europe/Istanbul)", ending.UsageLimit, true},
	{"You've hit your org's monthly usage limit", ending.UsageLimit, false},
	{"You've hit your individual spend limit · run /usage-credits to ask for more", ending.SpendLimit, false},
	{"Your usage allocation has been disabled by your admin", ending.DisabledByAdmin, false},
	{"You're out of extra usage · resets 9pm", ending.UsageLimit, true},
	{"API Error: Rate limit reached", ending.RateLimited, false},
	{"Spending cap reached resets 4:56am", ending.SpendLimit, true},
	{"Opus weekly limit reached ∙ resets Oct 9, 5pm", ending.UsageLimit, true},
	{"You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage or try again at 4:59 AM.", ending.UsageLimit, true},
	{"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day", ending.UsageLimit, false},
	{"API Error: 400 You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.", ending.SpendLimit, true},
}

func TestClassify_limitWordingInTheCLIsOwnErrorText_isALimit(t *testing.T) {
	for _, w := range wordings {
		for name, c := range map[string]struct {
			agent string
			exit  ptyexec.Exit
			lines []string
		}{
			"error result, exit 1":       {"claude", exitedWith(1), []string{claudeInit, claudeResult(w.text, true, "")}},
			"error result, exit 0":       {"claude", exited, []string{claudeInit, claudeResult(w.text, true, "")}},
			"api error message":          {"claude", exitedWith(1), []string{claudeInit, strings.Replace(claudeText(w.text), `"type":"assistant"`, `"type":"assistant","isApiErrorMessage":true`, 1)}},
			"line of the CLI, exit 1":    {"claude", exitedWith(1), []string{w.text}},
			"line of the CLI, exit 0":    {"claude", exited, []string{w.text}},
			"codex turn.failed":          {"codex", exitedWith(1), []string{`{"type":"turn.failed","error":{"message":` + mustJSON(w.text) + `}}`}},
			"gemini result":              {"gemini", exitedWith(1), []string{`{"type":"result","status":"error","error":{"message":` + mustJSON(w.text) + `}}`}},
			"opencode error":             {"opencode", exitedWith(1), []string{`{"type":"error","error":{"name":"APIError","data":{"message":` + mustJSON(w.text) + `}}}`}},
			"amp error":                  {"amp", exited, []string{`{"type":"result","subtype":"error_during_execution","is_error":true,"error":` + mustJSON(w.text) + `}`}},
			"plain text program, exit 1": {"text", exitedWith(1), []string{"working", w.text}},
			"plain text program, exit 0": {"text", exited, []string{w.text}},
		} {
			if strings.HasPrefix(name, "line") && c.exit == exited && w.class.Fatal() {
				continue // a stray line, see below
			}
			o := classify(t, c.agent, c.exit, c.lines...)
			if o.Class != w.class {
				t.Errorf("%s, %q: class %q, want %q", name, w.text, o.Class, w.class)
			}
			if o.Evidence == "" {
				t.Errorf("%s, %q: no evidence", name, w.text)
			}
			if limit := w.class == ending.UsageLimit || w.class == ending.SpendLimit; limit && (o.Limit == nil || o.ResetsAt.IsZero() == w.reset) {
				t.Errorf("%s, %q: limit %+v resets %v", name, w.text, o.Limit, o.ResetsAt)
			}
		}
	}
}

func TestClassify_limitWordingElsewhere_isIgnored(t *testing.T) {
	for _, w := range wordings {
		toolResult := `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":` + mustJSON(w.text) + `}]}}`
		prompt := `{"type":"user","message":{"content":[{"type":"text","text":` + mustJSON(w.text) + `}]}}`
		synthetic := `{"type":"user","isSynthetic":true,"message":{"content":[{"type":"text","text":` + mustJSON(w.text) + `}]}}`
		informational := `{"type":"system","subtype":"informational","content":` + mustJSON(w.text) + `}`
		allowed := `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","rateLimitType":"five_hour","resetsAt":1795150179,"overageStatus":"rejected","isUsingOverage":false}}`
		good := claudeResult("Did it.", false, "")
		for name, lines := range map[string][]string{
			"narration":                  {claudeText(w.text), good},
			"tool result":                {toolResult, good},
			"echoed prompt":              {prompt, good},
			"synthetic message":          {synthetic, good},
			"hint of the CLI":            {informational, good},
			"warned, allowed":            {allowed, good},
			"line beside a good result":  {w.text, good},
			"final message of the model": {claudeResult(w.text, false, "")},
			"all, then a good turn":      {claudeText(w.text), toolResult, prompt, synthetic, allowed, good},
		} {
			if o := classify(t, "claude", exited, append([]string{claudeInit}, lines...)...); o.Class != ending.CompletedTurn {
				t.Errorf("%s, %q: class %q (%s)", name, w.text, o.Class, o.Reason)
			}
		}
		// Nor when the call fails for another reason.
		if o := classify(t, "claude", ptyexec.Exit{Cause: ptyexec.CauseTimeout, Code: -1, Signal: syscall.SIGTERM}, claudeInit, claudeText(w.text), toolResult); o.Class != ending.TimeoutWithWork {
			t.Errorf("timeout, %q: class %q", w.text, o.Class)
		}
		if o := classify(t, "claude", exitedWith(1), claudeInit, claudeText(w.text), toolResult, claudeResult("API Error: 500 Internal server error", true, `"api_error_status":500,`)); o.Class != ending.ServerError {
			t.Errorf("server error, %q: class %q", w.text, o.Class)
		}
	}
	const not = "Third-party apps now draw from your extra usage, not your plan limits"
	if o := classify(t, "claude", exited, claudeInit, not, claudeResult("ok", false, "")); o.Class != ending.CompletedTurn {
		t.Errorf("%q: class %q", not, o.Class)
	}
	if o := classify(t, "opencode", exitedWith(1), `{"type":"error","error":{"data":{"message":"`+not+`"}}}`); o.Class == ending.UsageLimit || o.Class == ending.SpendLimit {
		t.Errorf("%q: class %q", not, o.Class)
	}
}

func TestClassify_records_outrankTheExitStatus(t *testing.T) {
	rejected := func(more string) string {
		return `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1778565600,"rateLimitType":"five_hour"` + more + `}}`
	}
	for name, c := range map[string]struct {
		exit  ptyexec.Exit
		lines []string
		want  ending.Class
	}{
		"error result, exit 0":                {exited, []string{claudeResult("API Error: 500", true, `"api_error_status":500,`)}, ending.ServerError},
		"good result, exit 1":                 {exitedWith(1), []string{claudeResult("ok", false, "")}, ending.CompletedTurn},
		"good result, then killed":            {ptyexec.Exit{Code: -1, Signal: syscall.SIGKILL, Cause: ptyexec.CauseExited}, []string{claudeResult("ok", false, "")}, ending.CompletedTurn},
		"rejected, exit 0, nothing else":      {exited, []string{claudeInit, rejected("")}, ending.UsageLimit},
		"rejected, then an empty good result": {exited, []string{rejected(""), claudeResult("", false, "")}, ending.UsageLimit},
		"rejected, then a good result":        {exited, []string{claudeInit, rejected(""), claudeResult("Did it.", false, "")}, ending.CompletedTurn},
		"rejected, then the limit as result":  {exited, []string{claudeInit, rejected(""), claudeResult("Claude AI usage limit reached|1778565600", false, "")}, ending.UsageLimit},
		"output tokens used up":               {exitedWith(1), []string{claudeResult("API Error: Claude's response exceeded the 32000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.", true, "")}, ending.MaxTurns},
		"output tokens used up, by code":      {exitedWith(1), []string{claudeResult("no", true, `"api_error":"max_output_tokens",`)}, ending.MaxTurns},
		"rejected, then work went on":         {exited, []string{rejected(""), claudeText("go on"), claudeResult("ok", false, "")}, ending.CompletedTurn},
		"overage in use and rejected":         {exited, []string{`{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","rateLimitType":"five_hour","isUsingOverage":true,"overageStatus":"rejected"}}`}, ending.UsageLimit},
		"overage rejected, not in use":        {exited, []string{claudeText("x"), `{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","rateLimitType":"five_hour","isUsingOverage":false,"overageStatus":"rejected"}}`, claudeResult("ok", false, "")}, ending.CompletedTurn},
		"rejected without a window, plain 429": {exitedWith(1), []string{`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","isUsingOverage":false}}`,
			claudeResult("API Error: Server is temporarily limiting requests (not your usage limit) · slow down", true, `"api_error_status":429,`)}, ending.RateLimited},
		"rejected, then out of time":    {ptyexec.Exit{Cause: ptyexec.CauseIdle, Code: -1, Signal: syscall.SIGTERM}, []string{rejected("")}, ending.UsageLimit},
		"max turns without is_error":    {exited, []string{`{"type":"result","subtype":"error_max_turns","is_error":false}`}, ending.MaxTurns},
		"error record without a cause":  {exited, []string{claudeText("x"), claudeResult("Something odd", true, "")}, ending.Crash},
		"billing code beats the status": {exitedWith(1), []string{claudeResult("no", true, `"api_error_status":429,"api_error":"billing_error",`)}, ending.NoCredit},
		"refusal":                       {exited, []string{claudeResult("I will not", false, `"stop_reason":"refusal",`)}, ending.Refusal},
		"question at the end":           {exited, []string{claudeResult("Shall I use tabs or **spaces?**", false, "")}, ending.QuestionAsked},
		"question inside a status turn": {exited, []string{claudeResult("Ready?\n"+block("STATUS: BLOCKED", "EXIT_SIGNAL: false"), false, "")}, ending.CompletedTurn},
		"asked with a tool": {exited, []string{claudeResult("I asked.", false,
			`"permission_denials":[{"tool_name":"AskUserQuestion","tool_use_id":"q","tool_input":{"question":"Which?"}}],`)}, ending.QuestionAsked},
		"denied":                    {exited, []string{claudeResult("I tried.", false, `"permission_denials":[{"tool_name":"Bash","tool_use_id":"b","tool_input":{"command":"rm x"}}],`)}, ending.PermissionDenied},
		"empty":                     {exited, []string{claudeInit, claudeResult("", false, "")}, ending.EmptyOutput},
		"no final record, exit 0":   {exited, []string{claudeInit, claudeText("half")}, ending.NoFinalRecord},
		"nothing at all, exit 0":    {exited, nil, ending.NoFinalRecord},
		"nothing at all, exit 7":    {exitedWith(7), nil, ending.Crash},
		"noise, exit 0":             {exited, []string{"lorem ipsum", "dolor sit"}, ending.NoFinalRecord},
		"killed":                    {ptyexec.Exit{Code: -1, Signal: syscall.SIGKILL, Cause: ptyexec.CauseExited}, []string{claudeText("x")}, ending.KilledBySignal},
		"terminated, exit 143":      {exitedWith(143), []string{claudeText("x")}, ending.KilledBySignal},
		"fault":                     {ptyexec.Exit{Code: -1, Signal: syscall.SIGSEGV, Cause: ptyexec.CauseExited}, []string{claudeText("x")}, ending.Crash},
		"stopped by the user":       {ptyexec.Exit{Code: -1, Signal: syscall.SIGTERM, Cause: ptyexec.CauseCancelled}, []string{claudeText("x")}, ending.KilledBySignal},
		"silent until timeout":      {ptyexec.Exit{Cause: ptyexec.CauseTimeout}, []string{claudeInit}, ending.HangSilent},
		"silent until idle timeout": {ptyexec.Exit{Cause: ptyexec.CauseIdle}, nil, ending.HangSilent},
		"working until timeout":     {ptyexec.Exit{Cause: ptyexec.CauseTimeout}, []string{claudeText("x")}, ending.TimeoutWithWork},
		"worked, then idle":         {ptyexec.Exit{Cause: ptyexec.CauseIdle}, []string{claudeText("x")}, ending.TimeoutIdle},
		"does not end after result": {ptyexec.Exit{Cause: ptyexec.CauseFinal}, []string{claudeResult("ok", false, "")}, ending.HangAfterResult},
		"result answers our own signal": {ptyexec.Exit{Cause: ptyexec.CauseTimeout}, []string{claudeText("x"),
			`{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}`}, ending.TimeoutWithWork},
		"session gone":           {exitedWith(1), []string{"No conversation found with session ID: 1111"}, ending.StaleSession},
		"login, then an address": {ptyexec.Exit{Cause: ptyexec.CauseIdle}, []string{"Please log in at this address:", "https://example.com/device", "Code: ABCD"}, ending.Auth},
		"login, but it went on":  {ptyexec.Exit{Cause: ptyexec.CauseIdle}, []string{"Log in with /login for more models", "one", "two", "three", "four"}, ending.HangSilent},
		"a tip about logins":     {ptyexec.Exit{Cause: ptyexec.CauseIdle}, []string{"Tip: sign in with your plan for higher limits"}, ending.HangSilent},
		"waits for a login":      {ptyexec.Exit{Cause: ptyexec.CauseIdle}, []string{"No API key found. Starting login flow..."}, ending.Auth},
		"record cut off in a tool result": {ptyexec.Exit{Code: -1, Signal: syscall.SIGKILL, Cause: ptyexec.CauseExited},
			[]string{claudeInit, `{"type":"user","message":{"content":[{"type":"tool_result","content":"Claude usage limit reached`}, ending.KilledBySignal},
		"record torn by a warning": {ptyexec.Exit{Code: -1, Signal: syscall.SIGKILL, Cause: ptyexec.CauseExited},
			[]string{`{"type":"user","message":{"content":[{"type":"tool_result","content":"he`, `usage limit reached","is_error":true}]},"session_id":"s"}`}, ending.KilledBySignal},
		"plain text and status": {exited, []string{"All fine.", block("STATUS: IN_PROGRESS", "EXIT_SIGNAL: false")}, ending.CompletedTurn},
	} {
		t.Run(name, func(t *testing.T) {
			if o := classify(t, "claude", c.exit, c.lines...); o.Class != c.want {
				t.Errorf("class %q, want %q; reason %q", o.Class, c.want, o.Reason)
			}
		})
	}
}

func TestClassify_oneRefusedToolCall_isNotSeveral(t *testing.T) {
	o := classify(t, "claude", exited, claudeResult("I tried.", false,
		`"permission_denials":[{"tool_name":"Bash","tool_use_id":"b","tool_input":{"command":"rm x"}}],`))
	if want := "the permission rules refused 1 tool call, first Bash(rm x)"; o.Reason != want {
		t.Errorf("%q, want %q", o.Reason, want)
	}
}

// straying are lines that codex prints at every start when an MCP server fails, and
// others that do not say why the call ended.
var straying = []string{
	"2026-11-20T04:00:00.000000Z ERROR rmcp::transport::worker: worker quit with fatal: Transport channel closed, when AuthRequired(HTTP 401)",
	"MCP client for `linear` failed to start: HTTP 401 Unauthorized",
	"ERROR: MCP server github: invalid API key",
	"Error: HTTP 401 Unauthorized",
	"unexpected status 403 Forbidden: You do not have access",
	"Warning: model gpt-9 not found, using the default",
	"Warning: unknown option verbose in config.toml",
	"Your credit balance is too low for web search",
	"Your usage allocation has been disabled by your admin",
	"Not logged in · telemetry is off",
	"Usage: helper [options]",
}

func TestClassify_strayLine_doesNotExplainASignalOrTimeout(t *testing.T) {
	killed := ptyexec.Exit{Code: -1, Signal: syscall.SIGKILL, Cause: ptyexec.CauseExited}
	started, message := `{"type":"thread.started","thread_id":"s"}`, `{"type":"item.completed","item":{"type":"agent_message","text":"Half."}}`
	for _, line := range straying {
		for name, c := range map[string]struct {
			exit ptyexec.Exit
			work bool
			want ending.Class
		}{
			"timeout":                {ptyexec.Exit{Cause: ptyexec.CauseTimeout}, false, ending.HangSilent},
			"idle":                   {ptyexec.Exit{Cause: ptyexec.CauseIdle}, false, ending.HangSilent},
			"idle after work":        {ptyexec.Exit{Cause: ptyexec.CauseIdle}, true, ending.TimeoutIdle},
			"out of memory":          {killed, false, ending.KilledBySignal},
			"killed in a shell":      {exitedWith(137), false, ending.KilledBySignal},
			"fault":                  {ptyexec.Exit{Code: -1, Signal: syscall.SIGSEGV, Cause: ptyexec.CauseExited}, false, ending.Crash},
			"out of memory, at work": {killed, true, ending.KilledBySignal},
			"exit 0":                 {exited, false, ending.NoFinalRecord},
			"exit 1 after work":      {exitedWith(1), true, ending.Crash},
		} {
			lines := []string{line, started}
			if c.work {
				lines = append(lines, message)
			}
			if o := classify(t, "codex", c.exit, lines...); o.Class != c.want {
				t.Errorf("%s, %q: class %q, want %q", name, line, o.Class, c.want)
			}
		}
	}
}

func TestClassify_lineBeforeAFailedStart_isTheCause(t *testing.T) {
	for line, want := range map[string]ending.Class{
		straying[0]: ending.Crash, straying[1]: ending.Crash, straying[2]: ending.Crash, // MCP servers
		straying[5]: ending.Crash, straying[6]: ending.Crash, // warnings
		straying[3]: ending.Auth, straying[7]: ending.NoCredit, straying[8]: ending.DisabledByAdmin,
		"Missing environment variable: `MOCK_KEY`.":  ending.Auth,
		"error: unexpected argument '--foo' found":   ending.BadFlag,
		"Error: model gpt-9 does not exist":          ending.BadModel,
		"error: connect ECONNREFUSED 127.0.0.1:8990": ending.Network,
	} {
		if o := classify(t, "codex", exitedWith(1), line); o.Class != want {
			t.Errorf("%q: class %q, want %q", line, o.Class, want)
		}
	}
	// A stray line does not hide the real cause.
	if o := classify(t, "codex", exitedWith(1), "Error: HTTP 503 Service Unavailable", straying[1]); o.Class != ending.ServerError {
		t.Errorf("class %q", o.Class)
	}
}

func TestClassify_plainText_usesLastLinesAndExitStatus(t *testing.T) {
	for name, c := range map[string]struct {
		exit  ptyexec.Exit
		lines []string
		want  ending.Class
	}{
		"good turn":              {exited, []string{"I looked at the rate limit code.", "It works now."}, ending.CompletedTurn},
		"long answer about it":   {exited, []string{"usage limit reached", "is what the CLI prints", "when", "the window", "is used up"}, ending.CompletedTurn},
		"nothing printed":        {exited, nil, ending.NoFinalRecord},
		"failure with a reason":  {exitedWith(1), []string{"working", "error: connect ECONNREFUSED 127.0.0.1:1"}, ending.Network},
		"failure without reason": {exitedWith(1), []string{"working", "oh no"}, ending.Crash},
		"usage text":             {exitedWith(2), []string{"unknown option --foo"}, ending.BadFlag},
		"out of time":            {ptyexec.Exit{Cause: ptyexec.CauseTimeout}, []string{"working"}, ending.TimeoutWithWork},
		"terminated":             {ptyexec.Exit{Cause: ptyexec.CauseExited, Code: -1, Signal: syscall.SIGTERM}, []string{"working"}, ending.KilledBySignal},
	} {
		t.Run(name, func(t *testing.T) {
			if o := classify(t, "text", c.exit, c.lines...); o.Class != c.want {
				t.Errorf("class %q, want %q; reason %q", o.Class, c.want, o.Reason)
			}
		})
	}
	s := row(t, "text")
	tr, _ := decodeAll(s, []byte("Done.\r\n\x1b[1m"+block("STATUS: COMPLETE", "EXIT_SIGNAL: true")+"\x1b[0m\r\n"))
	if sig, ok := statusblock.Parse(tr.Final); !ok || !sig.Exit {
		t.Errorf("final %q", tr.Final)
	}
}

func TestClassify_rateLimitWithDelay_setsRetryAfter(t *testing.T) {
	o := classify(t, "codex", exitedWith(1), `{"type":"turn.failed","error":{"message":"rate limit exceeded: Rate limit reached for gpt. Please try again in 1.5s."}}`)
	if o.Class != ending.RateLimited || o.RetryAfter != 1500*time.Millisecond {
		t.Errorf("%+v", o)
	}
}

func TestClasses_everyClassHasAMeaningAndIsUnique(t *testing.T) {
	var seen []ending.Class
	for _, i := range ending.Classes() {
		if i.Meaning == "" || slices.Contains(seen, i.Class) {
			t.Errorf("%+v", i)
		}
		seen = append(seen, i.Class)
	}
	if len(seen) != 28 {
		t.Errorf("%d classes", len(seen))
	}
	for _, s := range Specs() {
		for _, c := range s.ExitCodes {
			if !slices.Contains(seen, c) {
				t.Errorf("%s: exit code of unknown class %q", s.Name, c)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"claude-pty-sigint-tool", "codex-pty-json", "gemini-stream-json", "opencode-perm-ask", "qwen-json", "amp0108-toolfail", "claude-sub-limit5h"} {
		out, _ := recorded(f, name)
		f.Add(out, uint8(3))
	}
	f.Add([]byte("{\n{}\n}\n[{\"type\":\"result\"}]\n^C^C\x1b]0;"), uint8(0))
	specs := Specs()
	f.Fuzz(func(t *testing.T, out []byte, pick uint8) {
		s := specs[int(pick)%len(specs)]
		tr, events := decodeAll(s, out)
		for _, ev := range events {
			if text := words(ev); strings.ToValidUTF8(text, "") != text || len(text) > maxText+8 {
				t.Fatalf("text of %T: %.80q", ev, text)
			}
			if tool, ok := ev.(state.Tool); ok && strings.ContainsAny(tool.Arg, "\n\r") {
				t.Fatalf("argument %q", tool.Arg)
			}
		}
		for _, exit := range []ptyexec.Exit{exited, exitedWith(1), {Cause: ptyexec.CauseTimeout}} {
			if o := s.Classify(tr, exit, recordedAt); o.Class == ending.Unknown || o.Reason == "" {
				t.Fatalf("outcome %+v", o)
			}
		}
	})
}

func block(lines ...string) string {
	return "---RALPH_STATUS---\n" + strings.Join(lines, "\n") + "\n---END_RALPH_STATUS---"
}

// What resets at a time that can be read is a limit, whatever its words are.
func TestClassify_unknownWordsWithAReset_areALimit(t *testing.T) {
	for text, want := range map[string]ending.Class{
		"Fair use exhausted; renews at %s":                     ending.UsageLimit,
		"403 You have been very busy. Come back, resets at %s": ending.UsageLimit,
		"429 slow down, retry after 18000 seconds":             ending.UsageLimit,
		"429 slow down, retry after 30 seconds":                ending.RateLimited,
		"The build failed at %s":                               ending.Crash,
		"Insufficient balance of fair use, unlocks at %s":      ending.UsageLimit,
		"The tank is empty until %s":                           ending.UsageLimit,
		"The service comes back, %s":                           ending.UsageLimit,
		"The tank refills at %s":                               ending.UsageLimit,
		"A token that is valid until %s was not accepted":      ending.Crash,
	} {
		text = strings.ReplaceAll(text, "%s", recordedAt.Add(3*time.Hour).UTC().Format(time.RFC3339))
		o := classify(t, "claude", exitedWith(1), claudeInit, claudeResult(text, true, ""))
		if o.Class != want || (want == ending.UsageLimit) == o.ResetsAt.IsZero() {
			t.Errorf("%s: %q, resets %s", text, o.Class, o.ResetsAt)
		}
		if want != ending.UsageLimit || text[0] == '4' {
			continue
		}
		if o = classify(t, "claude", exited, text); o.Class != want { // as a line of the CLI
			t.Errorf("a line, %s: %q", text, o.Class)
		}
	}
	// The words of a program that prints plain text, or of a model, are none of its CLI.
	words := "The window resets at " + recordedAt.Add(3*time.Hour).UTC().Format(time.RFC3339)
	if o := classify(t, "text", exitedWith(1), "I did it.", words); o.Class == ending.UsageLimit {
		t.Errorf("plain text: %+v", o)
	}
}

// The last message of the agent counts if the final record has no text, or is missing.
func TestClassify_blockWithoutAResult_isTheFinalMessage(t *testing.T) {
	said := claudeText("Done.\n\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---")
	call := `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}}`
	failure := strings.Replace(claudeText("API Error: 500"), `"type":"assistant"`, `"type":"assistant","isApiErrorMessage":true`, 1)
	sub := strings.Replace(said, `"type":"assistant"`, `"type":"assistant","parent_tool_use_id":"t"`, 1)
	codex := `{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"---RALPH_STATUS---\nSTATUS: COMPLETE\n---END_RALPH_STATUS---"}}`
	for name, c := range map[string]struct {
		agent string
		lines []string
		found bool
	}{
		"empty result":         {"claude", []string{claudeInit, said, claudeResult("", false, "")}, true},
		"no result":            {"claude", []string{claudeInit, said}, true},
		"no result of codex":   {"codex", []string{`{"type":"thread.started","thread_id":"x"}`, codex}, true},
		"a tool call after it": {"claude", []string{claudeInit, said, call}, false},
		"an error after it":    {"claude", []string{claudeInit, said, failure}, false},
		"of a sub-agent":       {"claude", []string{claudeInit, sub}, false},
		"no block":             {"claude", []string{claudeInit, claudeText("I look at it now.")}, false},
	} {
		tr, _ := decodeAll(row(t, c.agent), []byte(strings.Join(c.lines, "\n")+"\n"))
		if found := strings.Contains(tr.Final, "STATUS: COMPLETE"); found != c.found {
			t.Errorf("%s: final message %q", name, tr.Final)
		}
		if o := row(t, c.agent).Classify(tr, exited, recordedAt); (o.Class == ending.CompletedTurn) != c.found {
			t.Errorf("%s: %s", name, o.Class)
		}
	}
}
