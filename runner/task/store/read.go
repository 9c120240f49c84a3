package store

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ralph/runner/task"
	"ralph/state/projectfs"
)

// plan is a plan with its files.
type plan struct {
	task.Parsed
	format
	in     projectfs.Dir
	files  []planFile // those of the Input, in its order
	memo   *memo      // nil: it is parsed anew
	folder string     // names of files are relative to it
}

type planFile struct {
	path string // absolute or as given
	data []byte
	bom  int // bytes of a byte order mark
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

func open(f File) (plan, error) {
	p := plan{in: f.Project(), memo: f.memo}
	info, err := p.in.Lstat(f.Path)
	if err != nil {
		return p, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if program, ok := f.program(); ok {
		return openProgram(f.Path, program, f.OptionalSections)
	}
	if info.IsDir() {
		err = p.openFolder(f)
		return p, err
	}
	p.files = []planFile{{path: f.Path}}
	if err = p.readFiles(0); err == nil {
		err = p.parse(f.Path, f.OptionalSections)
	}
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
				p.files, known[path] = append(p.files, planFile{path: path}), true
			}
		}
	}
	if err := p.readFiles(1); err != nil {
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
		in.Files = append(in.Files, task.File{Name: filepath.ToSlash(rel), Data: text})
	}
	var err error
	if p.Parsed, err = p.memo.parse(p.format, name, in); err != nil {
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

func (p *plan) openFolder(f File) error {
	format, paths, err := folderFiles(p.in, f.Path)
	if err != nil {
		return err
	}
	p.format = format
	for _, path := range paths {
		p.files = append(p.files, planFile{path: path})
	}
	if err := p.readFiles(0); err != nil {
		return err
	}
	return p.finish(f.Path, task.Input{OptionalSections: f.OptionalSections, Folder: f.Path})
}

// folderFiles returns the format of a plan that is a folder, and its files.
func folderFiles(in projectfs.Dir, dir string) (is format, paths []string, err error) {
	names, err := filesIn(in, dir)
	if err != nil {
		return is, nil, err
	}
	for _, f := range formats() {
		own := f.ofFolder(names)
		if len(own) == 0 {
			continue
		}
		if is.Name != "" {
			return is, nil, fmt.Errorf("%w: %q has plans of two formats: %s (%s) and %s (%s); name one of the files with --plan",
				ErrUnusable, dir, is.Name, filepath.Base(paths[0]), f.Name, own[0])
		}
		is = f
		for _, name := range own {
			paths = append(paths, filepath.Join(dir, filepath.FromSlash(name)))
		}
	}
	if is.Name == "" {
		return is, nil, fmt.Errorf("%w: the folder %q has no plan in a format that ralph knows; name a file", ErrUnusable, dir)
	}
	return is, paths, nil
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

// readFiles reads the files of a plan from an index on.
func (p *plan) readFiles(from int) (err error) {
	const most = 4 * MaxSize
	total := 0
	for i := range p.files[from:] {
		f := &p.files[from+i]
		if f.data, err = readStable(p.in, f.path); err != nil {
			return err
		}
		if total += len(f.data); total > most {
			return fmt.Errorf("%w: the files in %q have more than %d MiB together", ErrUnusable,
				filepath.Dir(p.files[0].path), most>>20)
		}
	}
	return nil
}
