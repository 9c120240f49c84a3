package monitor

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"ralph/logs/termtext"
	"ralph/state"
	"ralph/state/view"
)

// maxTranscript bounds the events of one iteration that are read, in bytes.
const maxTranscript = 8 << 20

// openTranscript shows what the agent says and does in the chosen iteration.
func (u *ui) openTranscript() { u.openTranscriptOf(u.looked()) }

func (u *ui) openTranscriptOf(n int) {
	defer u.lock()()
	i := u.indexOf(n)
	if i < 0 {
		u.say("there is no iteration %d to show", n)
		return
	}
	run := u.run()
	p := newTranscript(transcriptSubject{Run: run, Number: n, Title: u.model.Run.Iterations[i].Task, Dir: u.o.Dir})
	u.over, u.help = append(u.over, p), false
	r := u.feed.Reader()
	u.load(p.Fail, func() (func(), error) {
		events, err := view.EventsOfIteration(r, run, n, maxTranscript)
		return func() { p.Load(events) }, err
	})
}

// load reads the content of a page in the background, and then shows it, or why it failed.
func (u *ui) load(fail func(why string), read func() (show func(), err error)) {
	go func() {
		defer u.caught()
		show, err := read()
		defer u.redraw()
		defer u.lock()()
		if err != nil {
			fail(err.Error())
			return
		}
		show()
	}()
}

// renewTranscripts adds what has happened to the open transcripts. u is locked.
func (u *ui) renewTranscripts(events []state.Event) {
	for _, p := range u.over {
		if t, ok := p.(*transcriptPage); ok {
			t.Add(events)
		}
	}
}

// copies puts a text into the clipboard of the terminal, after it has asked once. u is locked.
func (u *ui) copies(text string) {
	if !u.mayCopy {
		u.asks, u.verb = askToCopy, text
		return
	}
	toClipboard(u.o.Screen, text)
	u.say("sent %s to the clipboard of the terminal", termtext.Count(len([]rune(text)), "character"))
}

// toClipboard tries tmux's own command first: by default tmux takes no OSC 52 from programs. tcell sends it only
// to terminals whose TERM it knows to be like xterm.
func toClipboard(screen tcell.Screen, text string) {
	if os.Getenv("TMUX") != "" {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, "tmux", "load-buffer", "-w", "-")
		cmd.Stdin = strings.NewReader(text)
		if cmd.Run() == nil {
			return
		}
	}
	if tty, ok := screen.Tty(); ok {
		fmt.Fprintf(tty, "\x1b]52;c;%s\a", base64.StdEncoding.EncodeToString([]byte(text)))
	}
}

// edit opens a file of the project, or a copy of a text, in the editor.
func (u *ui) edit(f shownFile) {
	var err error
	u.app.Suspend(func() {
		path := f.Name
		if f.Text != "" {
			err = withCopy(f.Name, f.Text, inEditor)
			return
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(u.o.Dir, path)
		}
		err = inEditor(path)
	})
	if err != nil {
		defer u.lock()()
		u.fail(err.Error())
	}
}
