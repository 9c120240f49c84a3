package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"ralph/cmd/internal/cmdline"
	"ralph/cmd/internal/scaffold"
	"ralph/logs/termtext"
	"ralph/runner/forge"
	"ralph/runner/prompt"
	"ralph/runner/task/store"
	"ralph/state/projectfs"
)

// importOptions say what to import, and where to.
type importOptions struct {
	*cmdline.Factory
	out, template            string
	list                     bool
	label, milestone, author string
	next                     string // what to run then; empty: as always
}

// newImportCmd returns the verb.
func newImportCmd(f *cmdline.Factory) *cobra.Command {
	o := &importOptions{Factory: f}
	cmd := &cobra.Command{
		Use: "import [FILE | gh:OWNER/REPO#12 | gh:pr/34]", Short: "Make a plan from a PRD, a list, issues or a template",
		Args: cmdline.Takes("one file at most", cobra.MaximumNArgs(1)),
		Long: "Make a plan from a PRD in Markdown, a plain list, issues, or a template. It lists every line that it leaves out, and\n" +
			"never overwrites a file.\n\n" +
			"Your gh reads issues from GitHub. Each task keeps the link to its issue:\n" +
			"  gh:                                   the open issues of this repository\n" +
			"  gh:OWNER/REPO                         those of another one\n" +
			"  gh:OWNER/REPO#12, gh:#12              one issue\n" +
			"  gh:OWNER/REPO?milestone=1.0           also label=NAME, author=NAME\n" +
			"  gh:OWNER/REPO?project=3&column=Todo   a column of project 3\n" +
			"  gh:pr/34, gh:OWNER/REPO/pr/34         the unresolved review threads of a pull\n" +
			"                                        request by people with write access, or\n" +
			"                                        with --author those by one person\n" +
			"Your glab reads those of GitLab: glab:, glab:GROUP/REPO#12, glab:mr/34.",
		Example: "  ralph import docs/prd.md\n" +
			"  ralph import gh: --label ralph --author @me\n  ralph import 'gh:OWNER/REPO?milestone=1.0'\n  ralph import --template api",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.list {
				for _, t := range scaffold.Templates() {
					f.Say("%-11s %s", t.Name, t.About)
				}
				return nil
			}
			if (len(args) == 1) == (o.template != "") {
				return cmdline.UsageError("import needs a file, gh:, or --template NAME; " +
					"see: ralph import --list-templates")
			}
			return o.run(cmd.Context(), strings.Join(args, ""))
		},
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&o.out, "out", "", "`FILE` to write (default: "+scaffold.ImportPath+").")
	fs.StringVar(&o.template, "template", "", "Begin with the template `NAME`.")
	fs.BoolVar(&o.list, "list-templates", false, "List the templates.")
	fs.StringVar(&o.label, "label", "", "Only issues with this `LABEL`.")
	fs.StringVar(&o.milestone, "milestone", "", "Only issues of this `MILESTONE`.")
	fs.StringVar(&o.author, "author", "", "Only issues, or threads, by this `AUTHOR`.")
	names := termtext.Each(scaffold.Templates(), func(t scaffold.Template) string { return t.Name })
	cmdline.CompleteValues(cmd, "template", names)
	return cmd
}

func (o *importOptions) sayNext(dir, out string) {
	if o.next != "" {
		o.Say("next: %s", o.next)
		return
	}
	cfg, _, err := o.Loader(dir, nil).Load()
	if err == nil {
		_, err = prompt.Find(dir, cfg.PromptFile)
	}
	if err != nil {
		o.Say("next: ralph init, which writes the prompt and the settings")
		return
	}
	if p, err := opened(o.Factory); err != nil || p.project.Plan != out {
		named := cmdline.Quote(relative(dir, out))
		o.Say("next: PLAN_FILE=%s ralph task list, then ralph doctor --plan %s", named, named)
		return
	}
	o.Say("next: ralph task list, then ralph doctor")
}

func (o *importOptions) run(ctx context.Context, from string) error {
	dir, err := o.Project()
	if err != nil {
		return err
	}
	out := filepath.Join(dir, scaffold.ImportPath)
	if o.out != "" {
		if out = o.out; !filepath.IsAbs(out) {
			out = filepath.Join(dir, out)
		}
	}
	items, skipped, err := o.read(ctx, dir, from)
	if err != nil {
		return err
	}
	for _, s := range skipped {
		o.Note("not taken: %s: %s: %s", s.Where, s.Why, termtext.Fit(termtext.Line(s.Text), 80))
	}
	if len(items) == 0 {
		return cmdline.UsageError("%s has no task that could be imported; "+
			"a task is an open issue, an unresolved thread, a box, a heading such as \"Story 1: ...\", or an item below a heading such as \"Tasks\"", from)
	}
	text := scaffold.WriteImported(filepath.Base(dir), items)
	if list, err := store.Parse(scaffold.ImportPath, []byte(text), nil); err != nil || len(list.Tasks) != len(items) {
		return fmt.Errorf("the plan would not be read as it is meant: %d of %d tasks: %w", len(list.Tasks), len(items),
			err)
	}
	switch err := writeNew(dir, out, text); {
	case errors.Is(err, fs.ErrExist):
		return cmdline.UsageError("%s exists, and import never overwrites a file; "+
			"if it is the sample of ralph init, remove it first; "+
			"else add to it with ralph task add -, or choose another file with --out", relative(dir, out))
	case errors.Is(err, fs.ErrNotExist):
		return cmdline.UsageError("the folder %q does not exist; ralph import makes folders only inside the project", filepath.Dir(out))
	case err != nil:
		return fmt.Errorf("write plan: %w", err)
	}
	o.Say("wrote %s: %s", relative(dir, out), termtext.Count(len(items), "task"))
	o.sayNext(dir, out)
	return nil
}

// writeNew writes a file that does not exist yet. It makes folders only in the project.
func writeNew(dir, path, text string) error {
	in := projectfs.In(dir)
	if relative(dir, path) == path {
		in = projectfs.In(filepath.Dir(path)) // the user named it
	} else if err := in.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := in.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// relative returns the path relative to the project, or the path itself if it is outside.
func relative(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// read returns what there is to import.
func (o *importOptions) read(ctx context.Context, dir, from string) ([]scaffold.Item, []scaffold.Skipped, error) {
	if o.template != "" {
		data, err := scaffold.ReadTemplate(o.template)
		if err != nil {
			return nil, nil, cmdline.UsageError("%v", err)
		}
		items, _, err := scaffold.ImportMarkdown(data) // its goals and non-goals are for a person to read
		return items, nil, err
	}
	where, query, _ := strings.Cut(from, "?")
	if r, ok := forge.ParseRef(where); ok {
		items, skipped, err := o.fromForge(ctx, dir, r, query)
		if bad := (*forge.Error)(nil); errors.As(err, &bad) {
			return nil, nil, &cmdline.ExitError{Code: bad.Exit, Text: bad.Text + "; nothing was written"}
		}
		return items, skipped, err
	}
	if strings.HasPrefix(from, "gh:") || strings.HasPrefix(from, "glab:") {
		return nil, nil, cmdline.UsageError("%q is not understood; write gh:OWNER/REPO#12, gh:OWNER/REPO?milestone=NAME or gh:pr/34; "+
			"see: ralph import --help", from)
	}
	if o.label+o.milestone+o.author != "" {
		return nil, nil, cmdline.UsageError("--label, --milestone and --author are for gh:")
	}
	info, err := os.Stat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, cmdline.UsageError("%s: no such file; ralph import takes a file, gh: or gh:owner/repo", from)
	case err != nil:
		return nil, nil, cmdline.UsageError("%v", err)
	case !info.Mode().IsRegular() || info.Size() > store.MaxSize:
		return nil, nil, cmdline.UsageError("%q is not a regular file of at most %d MiB", from, store.MaxSize>>20)
	}
	if strings.EqualFold(filepath.Ext(from), ".json") {
		return nil, nil, cmdline.UsageError("%s is JSON, and ralph import reads Markdown and plain lists; "+
			"if it is a plan, work on it where it is: ralph --plan %s", from, cmdline.Quote(from))
	}
	data, err := os.ReadFile(from) // file: the user names it
	if err != nil {
		return nil, nil, err
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return nil, nil, cmdline.UsageError("%s is not a text in UTF-8", from)
	}
	items, skipped, err := scaffold.ImportMarkdown(data)
	if err != nil {
		return nil, nil, cmdline.UsageError("%s: %v; nothing was written", from, err)
	}
	return items, skipped, nil
}

// fromForge asks gh or glab for issues, or for what the reviewers of a pull request want.
func (o *importOptions) fromForge(ctx context.Context, dir string, r forge.Ref, query string) (items []scaffold.Item,
	skipped []scaffold.Skipped, err error) {
	want, err := forge.Wanted(query)
	for name, value := range map[string]string{"label": o.label, "milestone": o.milestone, "author": o.author} {
		if err == nil && value != "" {
			want.Add(name, value)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	c, err := forge.Open(r.Service, dir)
	if err != nil {
		return nil, nil, err
	}
	if r.Pull == 0 {
		issues, err := c.Issues(ctx, r, want)
		return scaffold.ImportIssues(issues), nil, err
	}
	v, err := c.Review(ctx, r, want.Get("author"))
	for _, i := range v.Left {
		skipped = append(skipped, scaffold.Skipped{Where: i.URL, Text: i.Title,
			Why: "who began it may not write to the repository; --author NAME takes it"})
	}
	run := fmt.Sprintf("LAND_BRANCH=%s ralph run --land pr", cmdline.Quote(v.Branch))
	if v.Fork != "" {
		o.Note("the branch of %s is in %s, where ralph does not push; push it yourself after the run", r, v.Fork)
		run = "ralph run"
	}
	o.next = fmt.Sprintf("%s checkout %d && %s", map[string]string{"gh": "gh pr", "glab": "glab mr"}[r.Service], r.Pull, run)
	return scaffold.ImportIssues(v.Threads), skipped, err
}
