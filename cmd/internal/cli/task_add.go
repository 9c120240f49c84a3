package cli

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/logs/termtext"
	"ralph/runner/task"
	"ralph/runner/task/store"
)

type taskAddOptions struct {
	*cmdline.Factory
	text, stdin bool   // stdin: a task from each of its lines; without both, an editor opens
	title       string // with text
	json        bool
}

func newTaskAddCmd(f *cmdline.Factory) *cobra.Command {
	o := &taskAddOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "add [TEXT | -]", Short: "Add a task at the end of the plan",
		Args: cmdline.Takes("one text at most", cobra.MaximumNArgs(1)),
		Long: "Add a task at the end of the plan. - reads a task from each line of standard input. Without a text, $EDITOR opens.\n" +
			"--json prints the new task with its id (with -, a list of tasks).",
		Example: "  ralph task add 'Log every request'\n  ralph task add - < ideas.txt",
		RunE: func(_ *cobra.Command, args []string) error {
			if o.text = len(args) > 0; o.text {
				o.title, o.stdin = args[0], args[0] == "-"
			}
			return taskAddRun(o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "Print JSON for programs.")
	return cmd
}

func taskAddRun(o *taskAddOptions) error {
	p, err := taskOpen(o.Factory)
	if err != nil {
		return err
	}
	text := termtext.Unwrap(o.title)
	switch {
	case o.stdin:
		var data []byte
		data, err = io.ReadAll(io.LimitReader(o.In, store.MaxSize))
		text = string(data)
	case !o.text:
		text, err = p.inEditor("")
	}
	if err != nil {
		return failed(err)
	}
	added, err := p.add(strings.Split(text, "\n"), o.json)
	switch {
	case !o.json:
		return err
	case err == nil && len(added) == 1 && !o.stdin:
		return cmdline.NewEncoder(o.Out).Encode(p.rows(added)[0])
	}
	return errors.Join(cmdline.NewEncoder(o.Out).Encode(p.rows(added)), err)
}

// add adds a task for each text, or none if one of them is no title.
func (p *plan) add(texts []string, quietly bool) (added []task.Task, err error) {
	var titles []string
	for _, text := range texts {
		title, err := titleOf(text)
		if err != nil {
			return nil, err
		}
		if title != "" {
			titles = append(titles, title)
		}
	}
	if len(titles) == 0 {
		return nil, cmdline.UsageError("the new task needs a text: ralph task add TEXT")
	}
	for _, title := range titles {
		t, err := store.Add(p.file(), title)
		if err != nil {
			return added, failed(err)
		}
		if added = append(added, t); !quietly {
			p.Say("added %s: %s", t.ID, t.Title)
		}
		if err := p.record(nil, &t); err != nil {
			return added, err
		}
	}
	return added, nil
}

func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, text)
}

// patterns match what a person may write around a title: a list marker and a box, and a comment.
var patterns = sync.OnceValue(func() (p struct{ marker, box, comment *regexp.Regexp }) {
	p.marker = regexp.MustCompile(`^[-*+]\s+`)
	p.box = regexp.MustCompile(`^(?:[-*+]|\d+[.)])?\s*\[([^\pL\pN]?|[xX])\](?:\s+|$)`)
	p.comment = regexp.MustCompile(`<!--.*?-->`)
	return p
})

// titleOf is the title in a text; empty if it has none. A box says that the task is open, and is no part of it. The
// plan gets no control characters: people print it in terminals, and the text may be that of another agent.
func titleOf(text string) (string, error) {
	text = withoutControls(termtext.Unwrap(text))
	title := patterns().marker.ReplaceAllString(text, "")
	if box := patterns().box.FindStringSubmatch(text); box != nil {
		if strings.TrimSpace(box[1]) != "" {
			return "", cmdline.UsageError("%q has the box of another task state; a title may begin with [ ] at "+
				"most, and ralph task done marks a task as done; the plan was not changed", text)
		}
		title = text[len(box[0]):]
	}
	if strings.TrimSpace(patterns().comment.ReplaceAllString(title, "")) == "" {
		return "", nil
	}
	return title, nil
}
