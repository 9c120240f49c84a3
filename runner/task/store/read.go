package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"ralph/runner/task"
)

const (
	// MaxSize is the size in bytes above which a plan, or a file of it, is refused.
	MaxSize = 16 << 20
	// maxFiles and maxDepth bound a plan that is a folder.
	maxFiles = 20_000
	maxDepth = 6
	// rereads is how often a file that changes while it is read is read again.
	rereads = 5
)

// ErrUnusable is the error of a file that cannot be a plan: it is unreadable, binary, too
// large, invalid or of an unknown format.
var ErrUnusable = errors.New("unusable plan")

// plan is a plan with its files.
type plan struct {
	task.Parsed
	format
	files  []planFile // those of the Input, in its order
	folder string     // that the names of files are relative to
}

type planFile struct {
	path string // absolute or as given
	data []byte
	bom  int // bytes before what the format read
}

// Load reads and parses the plan at path, a file or a folder. Boxes under a heading in
// optionalSections, in any case, are Optional. Every error wraps ErrUnusable. A plan
// without tasks is not an error.
func Load(path string, optionalSections []string) (task.List, error) {
	p, err := open(path, optionalSections)
	return p.List, err
}

// Parse is Load for data, the content of the file name. The name selects the format, or
// else the content.
func Parse(name string, data []byte, optionalSections []string) (task.List, error) {
	p := plan{files: []planFile{{path: name, data: data}}}
	err := p.parse(name, optionalSections)
	p.Path = ""
	return p.List, err
}

func open(path string, optionalSections []string) (plan, error) {
	var p plan
	info, err := os.Stat(path)
	if err != nil {
		return p, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if f, ok := programAt(path); ok {
		return openProgram(path, f, optionalSections)
	}
	if info.IsDir() {
		return openFolder(path, optionalSections)
	}
	data, err := read(path)
	if err != nil {
		return p, err
	}
	p.files = []planFile{{path: path, data: data}}
	err = p.parse(path, optionalSections)
	return p, err
}

// parse parses a plan whose first file is read.
func (p *plan) parse(name string, optionalSections []string) (err error) {
	if p.format, err = formatOf(name, p.files[0].data); err != nil {
		return err
	}
	in := task.Input{OptionalSections: optionalSections, Folder: filepath.Dir(name)}
	patterns := p.Beside
	if p.More != nil {
		patterns = slices.Concat(patterns, p.More(body(p.files[0].data)))
	}
	for _, pattern := range patterns {
		for _, path := range existing(filepath.Dir(name), pattern) {
			if slices.ContainsFunc(p.files, func(f planFile) bool { return f.path == path }) {
				continue
			}
			data, err := read(path)
			if err != nil {
				return err
			}
			p.files = append(p.files, planFile{path: path, data: data})
		}
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
	if p.Parsed, err = p.format.Parse(in); err != nil {
		return fmt.Errorf("%w: parse %q: %w", ErrUnusable, name, err)
	}
	p.Path, p.Format = name, p.format.Name
	if len(p.files) > 1 {
		for _, f := range in.Files {
			p.List.Files = append(p.List.Files, f.Name)
		}
	}
	return nil
}

func openFolder(dir string, optionalSections []string) (plan, error) {
	names, err := filesIn(dir)
	if err != nil {
		return plan{}, err
	}
	var p plan
	for _, f := range formats() {
		own := f.ofFolder(names)
		if len(own) == 0 {
			continue
		}
		if p.format.Name != "" {
			return plan{}, fmt.Errorf("%w: %q holds plans of two formats: %s (%s) and %s (%s); name one of the files with --plan", ErrUnusable, dir,
				p.format.Name, filepath.Base(p.files[0].path), f.Name, own[0])
		}
		p.format = f
		for _, name := range own {
			p.files = append(p.files, planFile{path: filepath.Join(dir, filepath.FromSlash(name))})
		}
	}
	if p.format.Name == "" {
		return plan{}, fmt.Errorf("%w: the folder %q holds no plan that ralph knows", ErrUnusable, dir)
	}
	total := 0
	for i := range p.files {
		data, err := read(p.files[i].path)
		if err != nil {
			return plan{}, err
		}
		if p.files[i].data = data; total+len(data) > 4*MaxSize {
			return plan{}, fmt.Errorf("%w: the files in %q are larger than %d MiB", ErrUnusable, dir, 4*MaxSize>>20)
		}
		total += len(data)
	}
	err = p.finish(dir, task.Input{OptionalSections: optionalSections, Folder: dir})
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

// filesIn lists the regular files below dir by slash path, sorted, without following links.
func filesIn(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.Count(rel, string(filepath.Separator)) >= maxDepth || rel != "." && strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.Type().IsRegular():
			names = append(names, filepath.ToSlash(rel))
		}
		if len(names) > maxFiles {
			return fmt.Errorf("%q has more than %d files", dir, maxFiles)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	return names, nil
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

// read returns the bytes of a plan file, at most MaxSize, as they were at one moment.
func read(path string) ([]byte, error) {
	for range rereads {
		data, same, err := readOnce(path)
		if err != nil || same {
			return data, err
		}
	}
	return nil, fmt.Errorf("%w: %q changes while it is read", ErrUnusable, path)
}

func readOnce(path string) (data []byte, same bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("%w: %q is not a regular file", ErrUnusable, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	defer f.Close()
	if info, err = f.Stat(); err == nil {
		var text bytes.Buffer
		text.Grow(int(min(info.Size(), MaxSize)) + bytes.MinRead) // no copies of a large plan
		_, err = text.ReadFrom(io.LimitReader(f, MaxSize+1))
		data = text.Bytes()
	}
	if err != nil {
		return nil, false, fmt.Errorf("%w: read %q: %w", ErrUnusable, path, err)
	}
	if len(data) > MaxSize {
		return nil, false, fmt.Errorf("%w: %q is larger than %d MiB", ErrUnusable, path, MaxSize>>20)
	}
	now, err := f.Stat()
	return data, err == nil && now.Size() == int64(len(data)) && now.ModTime().Equal(info.ModTime()), nil
}
