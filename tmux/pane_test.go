package tmux

import (
	"errors"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestOpen_runnerEndsAtOnce_lastScreenAndStatusStay(t *testing.T) {
	c := newClient(t, "")
	l, _ := layout(t, c, "7")
	s := open(t, c, l)
	until(t, "dead runner", func() bool {
		p, err := c.Pane(t.Context(), s.Runner)
		return err == nil && p.Dead && p.Status == 7
	})
	text, err := c.ask(t.Context(), "capture-pane", "-p", "-t", s.Runner)
	if err != nil || !strings.Contains(text, "the last words") {
		t.Errorf("the pane shows %q, %v", text, err)
	}
	if err := c.Close(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Pane(t.Context(), s.Runner); !errors.Is(err, ErrGone) && !errors.Is(err, ErrNoServer) {
		t.Errorf("after Close the pane is %v", err)
	}
	if err := c.Close(t.Context(), s); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestPane_runnerKilledBySignal_isDeadWithoutStatus(t *testing.T) {
	c := newClient(t, "")
	l, out := layout(t, c, "sleep")
	s := open(t, c, l)
	read(t, out)
	if p, err := c.Pane(t.Context(), s.Runner); err != nil || p.Dead || p.Status != -1 {
		t.Errorf("before: %+v, %v", p, err)
	}
	text, err := c.ask(t.Context(), "display-message", "-p", "-t", s.Runner, "#{pane_pid}")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(text)
	if err != nil || pid <= 0 {
		t.Fatalf("pid %q, %v", text, err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var p Pane
	until(t, "dead runner", func() bool {
		p, err = c.Pane(t.Context(), s.Runner)
		return err == nil && p.Dead
	})
	if p.Status != -1 {
		t.Errorf("got %+v", p)
	}
}

func TestFailure_messagesOfTmux_becomeTheirErrors(t *testing.T) {
	for text, want := range map[string]error{
		"no server running on /tmp/tmux-0/default":                            ErrNoServer,
		"error connecting to /tmp/tmux-0/default (No such file or directory)": ErrNoServer,
		"server exited unexpectedly":                                          ErrNoServer,
		"lost server":                                                         ErrNoServer,
		"duplicate session: ralph-shop-12ab":                                  ErrDuplicate,
		"can't find pane: %1":                                                 ErrGone,
		"no current target":                                                   ErrGone,
		"no sessions":                                                         ErrGone,
	} {
		err := failure("list-panes", text+"\n", errors.New("exit status 1"))
		if !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q gave %v", text, err)
		}
	}
}
