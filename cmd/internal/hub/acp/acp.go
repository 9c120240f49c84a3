// Package acp makes one call to an agent that speaks the Agent Client Protocol. It prints the
// call as Claude Code prints its own (stream-json), which ralph reads: a prompt and a policy in,
// lines of JSON out.
package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"
)

const (
	greeting = time.Minute     // for an agent to answer the first message
	parting  = 2 * time.Second // for an agent to stop by itself
	// authRequired is the protocol's code of an agent without a login.
	authRequired = -32000
)

// Call is one call of an agent.
type Call struct {
	Args    []string // the agent's program and its arguments
	Dir     string   // absolute
	Prompt  string
	Model   string // empty: the agent's own default
	Session string // to resume; empty: a new one
	Policy  Policy
}

// Run makes the call and prints it on out. The last record says how the turn ended. It returns an error if the agent
// did not end its turn; out says that, too.
func (c Call) Run(ctx context.Context, out io.Writer) error {
	p := newPrinter(out)
	stop, err := c.talk(ctx, p)
	if err != nil {
		err = errors.New(plain(err))
	}
	p.end(stop, err)
	return err
}

// talk starts the agent and holds the conversation.
func (c Call) talk(ctx context.Context, p *printer) (sdk.StopReason, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = c.Dir, os.Stderr, parting
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	in, err := cmd.StdinPipe()
	answers, noOut := cmd.StdoutPipe()
	if err = cmp.Or(err, noOut); err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	silent := time.AfterFunc(greeting, cancel)
	stop, err := c.turn(newClient(answers, in, p, c.Policy), p, silent)
	_ = in.Close()
	defer time.AfterFunc(parting, cancel).Stop()
	if ended := cmd.Wait(); err != nil && ended != nil {
		err = fmt.Errorf("%w (%s: %w)", err, c.Args[0], ended)
	}
	return stop, err
}

// turn sends the prompt in a session, and waits for the end of the turn.
func (c Call) turn(to *client, p *printer, silent *time.Timer) (sdk.StopReason, error) {
	var hello sdk.InitializeResponse
	err := to.call(sdk.AgentMethodInitialize, sdk.InitializeRequest{ProtocolVersion: sdk.ProtocolVersionNumber,
		ClientInfo: &sdk.Implementation{Name: "ralph", Version: "1"}}, &hello)
	silent.Stop()
	if err != nil {
		return "", fmt.Errorf("it does not speak the Agent Client Protocol: %w", err)
	}
	session, err := c.open(to, hello)
	if err != nil {
		return "", err
	}
	p.begin(session.id, cmp.Or(c.Model, session.model))
	if c.Model != "" {
		if err := setModel(to, session, c.Model); err != nil {
			return "", err
		}
	}
	p.heard = true // before this, a resumed session repeats old updates
	var answer sdk.PromptResponse
	err = to.call(sdk.AgentMethodSessionPrompt,
		sdk.PromptRequest{SessionId: session.id, Prompt: []sdk.ContentBlock{sdk.TextBlock(c.Prompt)}}, &answer)
	p.usage = answer.Usage
	return answer.StopReason, err
}

// session is an open session.
type session struct {
	id     sdk.SessionId
	model  string   // empty: not said
	models []string // those that the agent offers; nil: not said
}

// open opens a session: a new one, or the one to resume. If the agent asks how to log in, it is told to use
// the key in the environment, if there is one.
func (c Call) open(to *client, hello sdk.InitializeResponse) (session, error) {
	try := func() (s session, err error) {
		if c.Session != "" {
			if !hello.AgentCapabilities.LoadSession {
				return s, errors.New("no conversation found with this session id: the agent cannot load sessions")
			}
			s.id = sdk.SessionId(c.Session)
			var got sdk.LoadSessionResponse
			err = to.call(sdk.AgentMethodSessionLoad,
				sdk.LoadSessionRequest{SessionId: s.id, Cwd: c.Dir, McpServers: []sdk.McpServer{}}, &got)
			s.take(got.Models)
			return s, err
		}
		var got sdk.NewSessionResponse
		err = to.call(sdk.AgentMethodSessionNew, sdk.NewSessionRequest{Cwd: c.Dir, McpServers: []sdk.McpServer{}}, &got)
		s.id = got.SessionId
		s.take(got.Models)
		return s, err
	}
	s, err := try()
	for _, id := range logins(hello.AuthMethods) {
		if refused := (*sdk.RequestError)(nil); !errors.As(err, &refused) || refused.Code != authRequired {
			break
		}
		if to.call(sdk.AgentMethodAuthenticate, sdk.AuthenticateRequest{MethodId: id}, &sdk.AuthenticateResponse{}) == nil {
			s, err = try()
		}
	}
	if err != nil {
		return s, fmt.Errorf("open a session: %w", err)
	}
	return s, nil
}

func (s *session) take(models *sdk.SessionModelState) {
	if models == nil {
		return
	}
	s.model = string(models.CurrentModelId)
	for _, m := range models.AvailableModels {
		s.models = append(s.models, string(m.ModelId))
	}
}

func setModel(to *client, s session, model string) error {
	if s.models != nil && !slices.Contains(s.models, model) {
		return fmt.Errorf("unknown model %q: the agent offers %s", model, strings.Join(s.models, ", "))
	}
	if err := to.call(sdk.AgentMethodSessionSetModel, sdk.UnstableSetSessionModelRequest{
		SessionId: s.id, ModelId: sdk.UnstableModelId(model)}, &sdk.UnstableSetSessionModelResponse{}); err != nil {
		return fmt.Errorf("the agent does not take the model %q: %w", model, err)
	}
	return nil
}

// plain is an error in words: the agent's message with its details, not the protocol's record.
func plain(err error) string {
	var refused *sdk.RequestError
	if !errors.As(err, &refused) {
		return err.Error()
	}
	before, after, _ := strings.Cut(err.Error(), refused.Error())
	text := before + refused.Message
	if refused.Data != nil {
		if data, bad := json.Marshal(refused.Data); bad == nil {
			text += " " + string(data)
		}
	}
	text += after
	if refused.Code == authRequired {
		text += ": log in with the agent's own program, or set its key"
	}
	return text
}
