// Package recordings reads and writes recorded calls of real agent CLIs, for tests.
//
// A file holds any number of recordings as a txtar archive, two members each:
//
//	-- claude-bg-task/meta.json --
//	{"args":["claude","-p"],"exit":0}
//	-- claude-bg-task/output --
//	{"type":"system","subtype":"init"}
//
// The output has the exact bytes that the CLI printed to its terminal or pipe. If
// txtar cannot hold them, a suffix of the member names the encoding: see noNewline
// and quoted.
package recordings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
)

// Recording is the output of one call of an agent CLI, and how the call ended.
type Recording struct {
	Name string `json:"-"` // without slashes and blanks

	Class    string    `json:"class,omitempty"` // outcome class; empty: the archive does not say
	Agent    string    `json:"agent,omitempty"` // name of the agent's row; empty: the archive does not say
	Recorded time.Time `json:"recorded,omitzero"`
	Args     []string  `json:"args"` // the command line
	Exit     int       `json:"exit"` // -1: ended by Signal
	Signal   string    `json:"signal,omitempty"`
	TimedOut bool      `json:"timed_out,omitempty"` // the recorder gave up and sent Signal

	Output string `json:"-"`
}

// Suffixes of an encoded output member.
const (
	noNewline = ".nonewline" // without the final newline, which txtar adds
	quoted    = ".quoted"    // one Go string literal a line; the output is their concatenation
)

const (
	metaFile   = "meta.json"
	outputFile = "output"
)

// Parse reads an archive. The recordings keep their order.
func Parse(archive []byte) ([]Recording, error) {
	var all []Recording
	for _, f := range txtar.Parse(archive).Files {
		name, member := path.Split(f.Name)
		name = strings.TrimSuffix(name, "/")
		if member == metaFile {
			r := Recording{Name: name}
			if err := json.Unmarshal(f.Data, &r); err != nil {
				return nil, fmt.Errorf("parse recording %q: %w", name, err)
			}
			all = append(all, r)
			continue
		}
		if len(all) == 0 || all[len(all)-1].Name != name {
			return nil, fmt.Errorf("parse recording %q: %s does not come first", name, metaFile)
		}
		output, err := decode(member, string(f.Data))
		if err != nil {
			return nil, fmt.Errorf("parse recording %q: %w", name, err)
		}
		all[len(all)-1].Output = output
	}
	return all, nil
}

func decode(member, data string) (string, error) {
	switch member {
	case outputFile:
		return data, nil
	case outputFile + noNewline:
		return strings.TrimSuffix(data, "\n"), nil
	case outputFile + quoted:
		var b strings.Builder
		for line := range strings.Lines(data) {
			text, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
			if err != nil {
				return "", fmt.Errorf("unquote %q: %w", line, err)
			}
			b.WriteString(text)
		}
		return b.String(), nil
	}
	return "", fmt.Errorf("unknown member %q", member)
}

// Format writes an archive.
func Format(all []Recording) ([]byte, error) {
	var archive txtar.Archive
	for _, r := range all {
		var meta bytes.Buffer
		enc := json.NewEncoder(&meta)
		enc.SetEscapeHTML(false) // command lines are for people to read
		if err := enc.Encode(r); err != nil {
			return nil, fmt.Errorf("format recording %q: %w", r.Name, err)
		}
		member, data := encode(r.Output)
		archive.Files = append(archive.Files,
			txtar.File{Name: r.Name + "/" + metaFile, Data: meta.Bytes()},
			txtar.File{Name: r.Name + "/" + member, Data: []byte(data)})
	}
	return txtar.Format(&archive), nil
}

// encode returns the most readable member that holds the output exactly.
func encode(output string) (member, data string) {
	text := output
	if member = outputFile; text != "" && !strings.HasSuffix(text, "\n") {
		member, text = outputFile+noNewline, text+"\n"
	}
	// A NUL would make the whole archive binary for git.
	if utf8.ValidString(text) && !strings.Contains(text, "\x00") && !hasMarker(text) {
		return member, text
	}
	var b strings.Builder
	for line := range strings.Lines(output) {
		b.WriteString(strconv.Quote(line) + "\n")
	}
	return outputFile + quoted, b.String()
}

func hasMarker(text string) bool {
	return strings.HasPrefix(text, "-- ") || strings.Contains(text, "\n-- ")
}

// KilledBy returns the signal that ended the call; 0: it ended by itself.
func (r Recording) KilledBy() syscall.Signal {
	switch r.Signal {
	case "SIGINT":
		return syscall.SIGINT
	case "SIGTERM":
		return syscall.SIGTERM
	case "SIGKILL":
		return syscall.SIGKILL
	}
	return 0
}
