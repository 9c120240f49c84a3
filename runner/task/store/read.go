package store

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"ralph/runner/task"
	"ralph/state/projectfs"
)

// MaxSize is the size in bytes of the largest plan, and of the largest file of one.
const MaxSize = maxFileSize

// ErrUnusable is the error of a file that cannot be a plan: it is unreadable, binary, too
// large, invalid or of an unknown format.
var ErrUnusable = errUnusable

// plan is a plan with its files.
type plan struct {
	task.Parsed
	format
	in     projectfs.Dir
	files  []planFile // those of the Input, in its order
	folder string     // names of files are relative to it
}

type planFile struct {
	path string // absolute or as given
	data []byte
	bom  int   // bytes of a byte order mark
	seen *any  // see task.File.Cached
	of   stamp // when it was read
}

// sameAs reports whether a file has certainly not changed.
func (f planFile) sameAs(old planFile) bool {
	return f.path == old.path && f.of == old.of && f.of != (stamp{})
}

// Load reads and parses a plan, a file or a folder. Boxes under a heading in
// f.OptionalSections, in any case, are Optional. Every error wraps ErrUnusable. A plan
// without tasks is not an error.
func Load(f File) (task.List, error) {
	p, err := open(f)
	return p.List, err
}

// Parse is Load for data, the content of the file name. The name selects the format or, if it cannot, the content.
func Parse(name string, data []byte, optionalSections []string) (task.List, error) {
	p := plan{in: projectfs.In(filepath.Dir(name)), files: []planFile{{path: name, data: data}}}
	err := p.parse(name, optionalSections)
	p.Path = ""
	return p.List, err
}

func open(f File) (plan, error) { return plan{}.reload(f) }

// reload reads a plan. p is the result of an earlier read, or the zero value. It reads files of a folder only
// if they have changed since.
func (p plan) reload(f File) (plan, error) {
	earlier := p
	p = plan{in: f.Project()}
	info, err := p.in.Lstat(f.Path)
	if err != nil {
		return p, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if program, ok := f.program(); ok {
		return openProgram(f.Path, program, f.OptionalSections)
	}
	if info.IsDir() {
		return earlier.openFolder(f)
	}
	data, of, err := readStable(p.in, f.Path)
	if err != nil {
		return p, err
	}
	p.files = []planFile{{path: f.Path, data: data, of: of}}
	err = p.parse(f.Path, f.OptionalSections)
	return p, err
}

// parse parses a plan after its first file has been read.
func (p *plan) parse(name string, optionalSections []string) (err error) {
	if p.format, err = formatOf(name, p.files[0].data); err != nil {
		return err
	}
	in := task.Input{OptionalSections: optionalSections, Folder: filepath.Dir(name)}
	patterns, known := p.Beside, map[string]bool{p.files[0].path: true}
	if p.More != nil {
		patterns = slices.Concat(patterns, p.More(body(p.files[0].data)))
	}
	for _, pattern := range patterns {
		for _, path := range matchesIn(p.in, filepath.Dir(name), pattern) {
			if !known[path] {
				p.files, known[path] = append(p.files, planFile{path: path, seen: new(any)}), true
			}
		}
	}
	if err := p.readFiles(1, nil); err != nil {
		return err
	}
	return p.finish(name, in)
}

// finish lets the format read the files.
func (p *plan) finish(name string, in task.Input) error {
	dir := in.Folder
	p.folder = dir
	for i, f := range p.files {
		if bytes.IndexByte(f.data, 0) >= 0 {
			return fmt.Errorf("%w: %q is not UTF-8 text (it has a NUL byte)", ErrUnusable, f.path)
		}
		text := body(f.data)
		p.files[i].bom = len(f.data) - len(text)
		rel, err := filepath.Rel(dir, f.path)
		if err != nil {
			rel = f.path
		}
		in.Files = append(in.Files, task.File{Name: filepath.ToSlash(rel), Data: text, Cached: f.seen})
	}
	var err error
	if p.Parsed, err = p.format.Parse(in); err != nil {
		return fmt.Errorf("%w: %q: %w", ErrUnusable, name, err)
	}
	p.Path, p.Format = name, p.format.Name
	if len(p.files) > 1 {
		for _, f := range in.Files {
			p.List.Files = append(p.List.Files, f.Name)
		}
	}
	return nil
}

func (p plan) openFolder(at File) (plan, error) {
	earlier, dir := p, at.Path
	p = plan{in: at.Project()}
	names, err := filesIn(p.in, dir)
	if err != nil {
		return plan{}, err
	}
	for _, f := range formats() {
		own := f.ofFolder(names)
		if len(own) == 0 {
			continue
		}
		if p.format.Name != "" {
			return plan{}, fmt.Errorf("%w: %q has plans of two formats: %s (%s) and %s (%s); name one of the files with --plan",
				ErrUnusable, dir, p.format.Name, filepath.Base(p.files[0].path), f.Name, own[0])
		}
		p.format = f
		for _, name := range own {
			p.files = append(p.files, planFile{path: filepath.Join(dir, filepath.FromSlash(name)), seen: new(any)})
		}
	}
	if p.format.Name == "" {
		return plan{}, fmt.Errorf("%w: the folder %q has no plan in a format that ralph knows", ErrUnusable, dir)
	}
	if err := p.readFiles(0, earlier.files); err != nil {
		return plan{}, err
	}
	if slices.EqualFunc(p.files, earlier.files, planFile.sameAs) {
		return earlier, nil
	}
	err = p.finish(dir, task.Input{OptionalSections: at.OptionalSections, Folder: dir})
	return p, err
}

// ofFolder lists the files of a folder that are a plan of this format.
func (f format) ofFolder(names []string) []string {
	var own []string
	taken := map[string]bool{}
	for _, pattern := range f.Files {
		for _, name := range names {
			if !taken[name] && matches(name, pattern) && !matches(name, f.Not...) {
				own, taken[name] = append(own, name), true
			}
		}
	}
	if len(own) == 0 {
		return nil
	}
	for _, pattern := range f.Beside {
		for _, name := range names {
			if matches(name, pattern) {
				own = append(own, name)
			}
		}
	}
	return own
}

func matches(name string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := doublestar.Match(pattern, name)
		return err == nil && ok
	})
}

func formatOf(name string, data []byte) (format, error) {
	known := []string{}
	for _, f := range formats() {
		if f.fits(name) && (f.Is == nil || f.Is(body(data))) {
			return f, nil
		}
		if f.Globs != nil {
			known = append(known, fmt.Sprintf("%s (%s)", f.Name, strings.Join(f.Globs, " ")))
		}
	}
	ext := strings.ToLower(filepath.Ext(name))
	for _, f := range formats() {
		if (ext == "" || ext == ".txt") && f.Sniff != nil && f.Sniff(data) {
			return f, nil
		}
	}
	return format{}, fmt.Errorf("%w: unknown format of %q; known: %s", ErrUnusable, name, strings.Join(known, ", "))
}

// readFiles reads the files of a plan from an index on, except those that have not changed since the earlier read.
func (p *plan) readFiles(from int, earlier []planFile) error {
	const most = 4 * MaxSize
	was := make(map[string]planFile, len(earlier))
	for _, f := range earlier {
		was[f.path] = f
	}
	files := p.files[from:]
	errs := make([]error, len(files))
	var total atomic.Int64
	task.Each(len(files), func(i int) {
		f := &files[i]
		if old, known := was[f.path]; known && old.of != (stamp{}) && stampOf(p.in, f.path) == old.of {
			*f = old
		} else if now := time.Now(); total.Load() <= most {
			if f.data, f.of, errs[i] = readStable(p.in, f.path); !f.of.Old(now) {
				f.of = stamp{} // its next change may not show in the stamp
			}
		}
		total.Add(int64(len(f.data)))
	})
	if total.Load() > most {
		return fmt.Errorf("%w: the files in %q have more than %d MiB together", ErrUnusable,
			filepath.Dir(p.files[0].path), most>>20)
	}
	return cmp.Or(errs...)
}
