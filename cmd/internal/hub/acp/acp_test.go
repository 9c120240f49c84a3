package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"ralph/runner/agent"
	"ralph/state"
)

// asAgent makes the test program an agent that speaks the protocol; its value is what it does.
const asAgent = "ACP_TEST_AGENT"

func TestMain(m *testing.M) {
	if what := os.Getenv(asAgent); what != "" {
		a := &fake{what: what}
		a.conn = sdk.NewAgentSideConnection(a, os.Stdout, os.Stdin)
		<-a.conn.Done()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fake is an agent that edits a file, runs a command if it may, and says so.
type fake struct {
	sdk.Agent
	conn *sdk.AgentSideConnection
	what string
}

func (f *fake) Initialize(context.Context, sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber, AuthMethods: []sdk.AuthMethod{}}, nil
}

func (f *fake) NewSession(context.Context, sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	if f.what == "no login" {
		return sdk.NewSessionResponse{}, &sdk.RequestError{Code: authRequired, Message: "Authentication required"}
	}
	return sdk.NewSessionResponse{SessionId: "s1", Models: &sdk.SessionModelState{CurrentModelId: "small",
		AvailableModels: []sdk.ModelInfo{{ModelId: "small", Name: "small"}, {ModelId: "large", Name: "large"}}}}, nil
}

func (f *fake) Prompt(ctx context.Context, r sdk.PromptRequest) (sdk.PromptResponse, error) {
	tell := func(u sdk.SessionUpdate) {
		_ = f.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: r.SessionId, Update: u})
	}
	switch f.what {
	case "limit":
		return sdk.PromptResponse{}, &sdk.RequestError{Code: -32603, Message: "Internal error", Data: map[string]any{"details": "429 rate limit reached, try again in 20s"}}
	case "too long":
		return sdk.PromptResponse{StopReason: sdk.StopReasonMaxTurnRequests}, nil
	case "dies":
		os.Exit(3)
	case "much":
		for range 6000 {
			tell(sdk.UpdateAgentMessageText("words "))
		}
		return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, nil
	case "terse":
		for range 100 {
			tell(sdk.UpdateAgentMessageText("words "))
		}
		tell(sdk.StartToolCall("t1", "ls", sdk.WithStartKind(sdk.ToolKindExecute), sdk.WithStartRawInput(map[string]any{"command": "ls"})))
		got, err := f.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{SessionId: r.SessionId, ToolCall: sdk.ToolCallUpdate{ToolCallId: "t1"},
			Options: []sdk.PermissionOption{{Kind: sdk.PermissionOptionKindAllowOnce, Name: "yes", OptionId: "y"}}})
		text := "refused"
		if err == nil && got.Outcome.Selected != nil {
			text = "allowed"
		}
		tell(sdk.UpdateToolCall("t1", sdk.WithUpdateStatus(sdk.ToolCallStatusCompleted)))
		tell(sdk.UpdateAgentMessageText(text))
		return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, nil
	}
	tell(sdk.UpdateAgentMessageText("I look "))
	tell(sdk.UpdateAgentMessageText("at it.\n\nNow"))
	command := map[string]any{"command": "go test ./..."}
	tell(sdk.StartToolCall("t1", "go test ./...", sdk.WithStartKind(sdk.ToolKindExecute), sdk.WithStartStatus(sdk.ToolCallStatusPending)))
	kind, title := sdk.ToolKindExecute, "go test ./..."
	got, err := f.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{SessionId: r.SessionId,
		ToolCall: sdk.ToolCallUpdate{ToolCallId: "t1", Kind: &kind, Title: &title, RawInput: command},
		Options: []sdk.PermissionOption{{Kind: sdk.PermissionOptionKindAllowOnce, Name: "yes", OptionId: "y"},
			{Kind: sdk.PermissionOptionKindRejectOnce, Name: "no", OptionId: "n"}}})
	status, text := sdk.ToolCallStatusFailed, "refused"
	if err == nil && got.Outcome.Selected != nil && got.Outcome.Selected.OptionId == "y" {
		status, text = sdk.ToolCallStatusCompleted, "PASS"
	}
	tell(sdk.UpdateToolCall("t1", sdk.WithUpdateStatus(status),
		sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(text))})))
	tell(sdk.UpdateAgentMessageText("It is done: " + r.Prompt[0].Text.Text))
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn, Usage: &sdk.Usage{InputTokens: 7, OutputTokens: 5, TotalTokens: 12}}, nil
}

// made makes a call, and returns the outcome and the payloads as ralph reads them.
func made(t *testing.T, what string, c Call) ([]state.Payload, error) {
	t.Helper()
	t.Setenv(asAgent, what)
	var out bytes.Buffer
	c.Args, c.Dir = []string{os.Args[0]}, t.TempDir()
	err := c.Run(t.Context(), &out)
	for line := range bytes.Lines(out.Bytes()) {
		if !json.Valid(line) {
			t.Errorf("not a record: %s", line)
		}
	}
	spec, _ := agent.Find("acp")
	var all []state.Payload
	d := spec.NewDecoder(func(p state.Payload) { all = append(all, p) })
	_, _ = d.Write(out.Bytes())
	d.Close()
	return all, err
}

func of[T state.Payload](all []state.Payload) (found []T) {
	for _, p := range all {
		if one, ok := p.(T); ok {
			found = append(found, one)
		}
	}
	return found
}

func TestRun_commandOfTheList_isAllowedAndEverythingIsRead(t *testing.T) {
	all, err := made(t, "works", Call{Prompt: "thanks", Policy: Policy{Allowed: []string{"Bash(go test:*)"}}})
	if err != nil {
		t.Fatal(err)
	}
	calls, results, ends := of[state.Tool](all), of[state.ToolResult](all), of[state.FinalMessage](all)
	if len(calls) != 1 || calls[0].Name != "Bash" || !strings.Contains(calls[0].Arg, "go test") {
		t.Errorf("calls %+v", calls)
	}
	if len(results) != 1 || results[0].Text != "PASS" || results[0].Error {
		t.Errorf("results %+v", results)
	}
	if len(ends) != 1 || ends[0].Text != "It is done: thanks" || ends[0].Error {
		t.Errorf("end %+v", ends)
	}
	usage := of[state.Usage](all)
	if len(usage) == 0 || usage[len(usage)-1].InputTokens != 7 || usage[len(usage)-1].OutputTokens != 5 {
		t.Errorf("usage %+v", usage)
	}
}

func TestRun_commandThatIsNotInTheList_isRefusedAndReported(t *testing.T) {
	for _, p := range []Policy{{Allowed: []string{"Bash(go vet:*)"}}, {Mode: agent.PermitReadOnly, Allowed: []string{"Bash"}}} {
		all, _ := made(t, "works", Call{Prompt: "x", Policy: p})
		if denied := of[state.Denied](all); len(denied) != 1 || denied[0].Tool.Name != "Bash" {
			t.Errorf("%+v: %+v", p, denied)
		}
		if results := of[state.ToolResult](all); len(results) != 1 || !results[0].Error {
			t.Errorf("%+v: %+v", p, results)
		}
	}
}

func TestRun_badEnds_areSaidInTheLastRecord(t *testing.T) {
	for what, c := range map[string]struct {
		call Call
		want string
	}{
		"no login": {Call{}, "log in with the agent's own program"},
		"limit":    {Call{}, "429 rate limit reached, try again in 20s"},
		"dies":     {Call{}, "exit status 3"},
		"works":    {Call{Model: "huge"}, `unknown model "huge": the agent offers small, large`},
	} {
		all, err := made(t, what, c.call)
		ends := of[state.FinalMessage](all)
		if err == nil || len(ends) != 1 || !ends[0].Error || !strings.Contains(ends[0].Text, c.want) {
			t.Errorf("%s: %v, %+v", what, err, ends)
		}
	}
	if all, _ := made(t, "too long", Call{}); !slices.Contains(of[state.FinalMessage](all)[0].Codes, "error_max_turns") {
		t.Errorf("%+v", of[state.FinalMessage](all))
	}
}

func TestRun_programThatIsNoAgent_saysSo(t *testing.T) {
	var out bytes.Buffer
	err := Call{Args: []string{"cat"}, Dir: t.TempDir()}.Run(t.Context(), &out)
	if err == nil || !strings.Contains(err.Error(), "does not speak the Agent Client Protocol") || !strings.Contains(out.String(), `"is_error":true`) {
		t.Errorf("%v: %s", err, out.String())
	}
	if err := (Call{Args: []string{"/nonexistent"}, Dir: t.TempDir()}).Run(t.Context(), &out); err == nil || errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestPolicy_modes(t *testing.T) {
	for _, c := range []struct {
		p    Policy
		kind sdk.ToolKind
		arg  string
		want bool
	}{
		{Policy{}, sdk.ToolKindRead, "", true},
		{Policy{}, sdk.ToolKindEdit, "", false},
		{Policy{Allowed: []string{"Write"}}, sdk.ToolKindEdit, "", true},
		{Policy{Allowed: []string{"Bash(git:*)"}}, sdk.ToolKindExecute, "git status && ls | head", false},
		{Policy{Allowed: []string{"Bash(git:*)"}}, sdk.ToolKindExecute, "git status | head", true},
		{Policy{Allowed: []string{"Bash(git:*)"}}, sdk.ToolKindExecute, "git log > x", false},
		{Policy{Allowed: []string{"Bash(git:*)"}}, sdk.ToolKindExecute, "LD_PRELOAD=./e.so cat a", false},
		{Policy{Allowed: []string{"Bash(git:*)"}}, sdk.ToolKindExecute, "export PATH=.:$PATH; cat a", false},
		{Policy{Allowed: []string{"Bash(git:*)"}}, sdk.ToolKindExecute, "GIT_SSH_COMMAND='sh -c evil' git fetch", false},
		{Policy{Allowed: []string{"Bash(git:*)"}}, sdk.ToolKindExecute, "sort -o .git/hooks/pre-commit x", false},
		{Policy{Allowed: []string{"Bash(git:*)"}}, sdk.ToolKindExecute, "f() { rm x; }; f", false},
		{Policy{Allowed: []string{"Bash(git:*)"}}, sdk.ToolKindExecute, "git log $(rm x)", false},
		{Policy{Allowed: []string{"Bash(git:*)", "Write"}}, sdk.ToolKindExecute, "git log > x", false},
		{Policy{Allowed: []string{"Bash"}}, sdk.ToolKindExecute, "rm -rf /tmp/x", true},
		{Policy{Mode: agent.PermitBypass}, sdk.ToolKindExecute, "rm x", true},
		{Policy{Mode: agent.PermitReadOnly, Allowed: []string{"Edit"}}, sdk.ToolKindEdit, "", false},
		{Policy{Allowed: []string{"WebFetch"}}, sdk.ToolKindFetch, "", true},
		{Policy{}, sdk.ToolKindOther, "", false},
	} {
		if got := c.p.allows(c.kind, c.arg); got != c.want {
			t.Errorf("%+v %s %q: %v", c.p, c.kind, c.arg, got)
		}
	}
}

func TestRun_burstOfUpdates_allArePrinted(t *testing.T) {
	all, err := made(t, "much", Call{})
	ends := of[state.FinalMessage](all)
	if err != nil || len(ends) != 1 || strings.Count(ends[0].Text, "words") != 6000 {
		t.Errorf("%v, %d ends", err, len(ends))
	}
}

func TestRun_requestThatOnlyNamesItsCall_isJudgedByTheCall(t *testing.T) {
	all, err := made(t, "terse", Call{Policy: Policy{Allowed: []string{"Bash(ls)"}}})
	if ends := of[state.FinalMessage](all); err != nil || len(ends) != 1 || ends[0].Text != "allowed" {
		t.Errorf("%v, %+v", err, ends)
	}
}

func TestJoined_onlyAShellGetsItsText(t *testing.T) {
	for want, list := range map[string][]any{
		"go test ./...": {"bash", "-lc", "go test ./..."}, "rm -rf ls": {"rm", "-rf", "ls"}, "git push 'a b'": {"git", "push", "a b"}, "": {"rm", 1},
	} {
		if got := joined(list); got != want {
			t.Errorf("%v: %q", list, got)
		}
	}
}
