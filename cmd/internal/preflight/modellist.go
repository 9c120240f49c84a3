package preflight

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"ralph/logs/termtext"
	"ralph/state/projectfs"
)

const (
	keptFor   = 24 * time.Hour
	maxModels = 500
)

// modelList is the list of a program's models. It holds until the program changes.
type modelList struct {
	File    string    `json:"-"`
	Program string    `json:"program"`
	Changed time.Time `json:"changed"` // when the program was
	Listed  time.Time `json:"listed"`
	Names   []string  `json:"names"`
}

// Read returns the kept names; nil if there are none, they are too old, or the program has changed.
func (k modelList) Read() []string {
	var was modelList
	data, err := os.ReadFile(k.File) // file: in the cache
	if err != nil || json.Unmarshal(data, &was) != nil {
		return nil
	}
	age := time.Since(was.Listed)
	if was.Program != k.Program || !was.Changed.Equal(k.Changed) || age < 0 || age > keptFor {
		return nil
	}
	return was.Names
}

// Write keeps the list. If that fails, the next look only takes longer.
func (k modelList) Write() {
	k.Listed = time.Now()
	data, err := json.Marshal(k)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(k.File), 0o700)
	}
	if err == nil {
		_ = projectfs.In(filepath.Dir(k.File)).Write(k.File, data, 0o600)
	}
}

// modelNames reads what a program prints: a JSON object with models, or a name
// alone on its line, before " - ", two blanks or a bracket, or in square brackets.
func modelNames(out string) (names []string) {
	if at := strings.Index(out, `{"models"`); at >= 0 {
		for _, m := range gjson.Get(out[at:], "models").Array() {
			if name := m.Get("slug").String(); name != "" && m.Get("visibility").String() != "hide" &&
				len(names) < maxModels {
				names = append(names, termtext.Unwrap(termtext.Clean(name)))
			}
		}
		return names
	}
	line := regexp.MustCompile(`^[\s*•>-]*(?:([A-Za-z0-9][\w./:@+-]*)(?:\s*$|\s+[-–(*]|\s{2,}|\t)|` +
		`.*\[([A-Za-z0-9][\w./:@+-]*)\])`)
	for text := range strings.Lines(termtext.Clean(out)) {
		m := line.FindStringSubmatch(strings.TrimRight(text, "\r\n"))
		if m == nil || strings.HasSuffix(m[1], ":") {
			continue
		}
		if name := m[1] + m[2]; !slices.Contains(names, name) && len(names) < maxModels {
			names = append(names, name)
		}
	}
	return names
}
