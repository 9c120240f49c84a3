package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"ralph/logs/termtext"
	"ralph/state/projectfs"
)

// maxFileSize is far above any real file, and limits what a hostile one can cost.
const maxFileSize = 64 << 10

// maxNesting bounds the depth of open brackets and the columns of list markers:
// both parsers recurse into nested values without a bound of their own.
const maxNesting = 100

// UsageError is a value or a file that ralph refuses to start with.
type UsageError struct {
	Where   string // file:line, $VARIABLE or --flag; empty: Problem says it
	Problem string // what is wrong, and what is allowed
}

// Error returns one line.
func (e *UsageError) Error() string { return oneLine(strings.TrimPrefix(e.Where+": "+e.Problem, ": ")) }

// Warning is one line for the user about a setting that ralph does not use.
type Warning string

func warn(where, format string, args ...any) Warning {
	return Warning(oneLine(where + ": " + fmt.Sprintf(format, args...)))
}

// oneLine makes text from a file safe to print. Unlike termtext.Line, it keeps
// repeated spaces: the user must see exactly what will run.
func oneLine(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(termtext.Clean(text))
}

func lineOf(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// readFile returns the text of a settings file with \n line ends and without a
// byte order mark. For a missing file, found is false. Errors are *UsageError with
// name, by which the user knows the file. No link is followed below project; empty: the file is the user's own.
func readFile(project, path, name string) (text string, found bool, err error) {
	var f *os.File
	if project != "" {
		f, err = projectfs.In(project).Open(path)
	} else { // without O_NONBLOCK, opening a named pipe would hang
		f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // file: of the user's home
	}
	if refused := projectfs.Refused(err); refused != nil {
		return "", false, &UsageError{name, "is " + refused.Is + "; ralph reads only " + refused.Want + " here"}
	}
	// A socket is there if a sandbox covers what is missing.
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENXIO) {
		return "", false, nil
	}
	if err != nil {
		return "", false, &UsageError{name, "cannot be read: " + reason(err)}
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false, &UsageError{name, "is not a regular file"}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return "", false, &UsageError{name, "cannot be read: " + reason(err)}
	}
	if len(data) > maxFileSize {
		return "", false, &UsageError{name, fmt.Sprintf("is larger than %d KiB", maxFileSize>>10)}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	text = strings.ReplaceAll(string(data), "\r\n", "\n")
	if problem, line := unreadable(text); problem != "" {
		return "", false, &UsageError{lineOf(name, line), problem}
	}
	return text, true, nil
}

func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// unreadable finds text that must not reach a parser, and its line. An empty problem: there is none.
func unreadable(text string) (problem string, line int) {
	depth := 0
	for i, row := range strings.Split(text, "\n") {
		if strings.ContainsRune(row, 0) {
			return "holds a NUL byte: the file must be plain text in UTF-8", i + 1
		}
		if strings.ContainsRune(row, '\r') {
			return "holds a carriage return inside a line: lines must end with \\n or \\r\\n", i + 1
		}
		for _, c := range []byte(row) {
			switch c {
			case '(', '[', '{':
				depth++
			case ')', ']', '}':
				depth = max(0, depth-1)
			}
			if depth > maxNesting {
				return "is nested too deeply", i + 1
			}
		}
		if len(row)-len(strings.TrimLeft(row, " \t-?")) > maxNesting {
			return "is indented too deeply", i + 1
		}
	}
	return "", 0
}
