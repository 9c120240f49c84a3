package task

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// MaxSize is the size in bytes above which a plan is refused.
const MaxSize = 16 << 20

// ErrUnusable is the error of a file that cannot be a plan: it is unreadable, binary, too
// large, invalid or of an unknown format.
var ErrUnusable = errors.New("unusable plan")

// mark is the place of a task's state in the file. To change the state, replace the bytes
// [start,end) with done or open; start == end means insert.
type mark struct {
	start, end int
	done, open string
}

// format is one kind of plan. Parse returns one mark for each task.
type format struct {
	Name  string
	Globs []string // of the file's base name, in lower case
	Sniff func(data []byte) bool
	Parse func(data []byte, optionalSections []string) (List, []mark, error)
}

func formats() []format {
	return []format{
		{"prd.json", []string{"*.json"}, looksLikeJSON, parsePRD},
		{"checkbox", []string{"*.md", "*.markdown", "*.mdown"}, hasBox, parseCheckbox},
	}
}

// Find returns the project's plan: the first of .ralph/fix_plan.md, fix_plan.md,
// @fix_plan.md, prd.json and .ralph/prd.json that exists in dir.
func Find(dir string) (path string, ok bool) {
	for _, name := range []string{".ralph/fix_plan.md", "fix_plan.md", "@fix_plan.md", "prd.json", ".ralph/prd.json"} {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path, true
		}
	}
	return "", false
}

// Load reads and parses the plan at path. Boxes under a heading in optionalSections, in
// any case, are Optional. Every error wraps ErrUnusable. A plan without tasks is not an
// error.
func Load(path string, optionalSections []string) (List, error) {
	data, err := read(path)
	if err != nil {
		return List{}, err
	}
	list, err := Parse(path, data, optionalSections)
	list.Path = path
	return list, err
}

// Parse is Load for data, the content of the file name. The base name selects the format,
// or else the content.
func Parse(name string, data []byte, optionalSections []string) (List, error) {
	list, _, err := parse(name, data, optionalSections)
	return list, err
}

func parse(name string, data []byte, optionalSections []string) (List, []mark, error) {
	if bytes.IndexByte(data, 0) >= 0 {
		return List{}, nil, fmt.Errorf("%w: %q is not UTF-8 text (it has a NUL byte)", ErrUnusable, name)
	}
	f, err := formatOf(name, data)
	if err != nil {
		return List{}, nil, err
	}
	body, hadBOM := bytes.CutPrefix(data, []byte("\xef\xbb\xbf"))
	list, marks, err := f.Parse(body, optionalSections)
	if err != nil {
		return List{}, nil, fmt.Errorf("%w: parse %q: %w", ErrUnusable, name, err)
	}
	if hadBOM {
		for i := range marks {
			marks[i].start += len(data) - len(body)
			marks[i].end += len(data) - len(body)
		}
	}
	list.Format = f.Name
	return list, marks, nil
}

func formatOf(name string, data []byte) (format, error) {
	base := strings.ToLower(filepath.Base(name))
	known := []string{}
	for _, f := range formats() {
		for _, glob := range f.Globs {
			if ok, err := filepath.Match(glob, base); err == nil && ok {
				return f, nil
			}
		}
		known = append(known, fmt.Sprintf("%s (%s)", f.Name, strings.Join(f.Globs, " ")))
	}
	if filepath.Ext(base) == "" || filepath.Ext(base) == ".txt" {
		for _, f := range formats() {
			if f.Sniff(data) {
				return f, nil
			}
		}
	}
	return format{}, fmt.Errorf("%w: unknown format of %q; known: %s", ErrUnusable, name, strings.Join(known, ", "))
}

func looksLikeJSON(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	return bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))
}

func hasBox(data []byte) bool {
	_, marks, err := parseCheckbox(data, nil)
	return err == nil && len(marks) > 0
}

// read returns the bytes of a plan file, at most MaxSize.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %q is not a regular file", ErrUnusable, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("%w: read %q: %w", ErrUnusable, path, err)
	}
	if len(data) > MaxSize {
		return nil, fmt.Errorf("%w: %q is larger than %d MiB", ErrUnusable, path, MaxSize>>20)
	}
	return data, nil
}
