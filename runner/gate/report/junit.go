package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxFile limits a report file, in bytes.
const maxFile = 64 << 20

type junitCase struct {
	Name  string      `xml:"name,attr"`
	Class string      `xml:"classname,attr"`
	File  string      `xml:"file,attr"`
	Fails []junitText `xml:"failure"`
	Errs  []junitText `xml:"error"`
	Skips []junitText `xml:"skipped"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// ReadJUnit reads a JUnit XML file. Suites may be nested.
func ReadJUnit(r io.Reader) (Summary, error) {
	d := xml.NewDecoder(io.LimitReader(r, maxFile))
	c := newCollector()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) && c.known {
			return c.summary(), nil
		}
		if err != nil {
			return c.summary(), fmt.Errorf("read junit report: %w", err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "testsuite", "testsuites":
			c.known = true
		case "testcase":
			var t junitCase
			if err := d.DecodeElement(&t, &start); err != nil {
				return c.summary(), fmt.Errorf("read junit report: %w", err)
			}
			c.add(t.test())
		}
	}
}

func (j junitCase) test() Test {
	t := Test{Name: j.fullName(), Status: Passed}
	switch {
	case len(j.Skips) > 0:
		t.Status = Skipped
	case len(j.Fails)+len(j.Errs) > 0:
		t.Status = Failed
		m := newMessage()
		for _, f := range append(j.Fails, j.Errs...) {
			text := strings.TrimSpace(strip(f.Text))
			if first, _, _ := strings.Cut(f.Message, "\n"); !strings.Contains(text, first) {
				m.WriteLine(f.Message)
			}
			if text != "" {
				m.WriteLine(text)
			}
		}
		t.Message = m.String()
	}
	return t
}

// fullName returns pytest's node id for a Python file, so that the user can pass it
// to pytest; else CLASS.NAME.
func (j junitCase) fullName() string {
	if module, ok := strings.CutSuffix(j.File, ".py"); ok {
		module = strings.ReplaceAll(module, "/", ".")
		classes := strings.TrimPrefix(strings.TrimPrefix(j.Class, module), ".")
		parts := []string{j.File}
		if classes != "" {
			parts = append(parts, strings.ReplaceAll(classes, ".", "::"))
		}
		if j.Name != "" && (j.Class != "" || j.Name != module) { // else the whole file could not be loaded
			parts = append(parts, j.Name)
		}
		return strings.Join(parts, "::")
	}
	if j.Class == "" {
		return j.Name
	}
	return j.Class + "." + j.Name
}
