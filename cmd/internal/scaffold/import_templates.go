package scaffold

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed templates
var importerTemplates embed.FS

// Template is a PRD to start from.
type Template struct{ Name, About string }

// Templates lists them.
func Templates() []Template {
	return []Template{
		{"fullstack", "a web application with sign-in, data and a page for each"},
		{"api", "an HTTP service with storage, validation and documentation"},
		{"extension", "a browser extension with options and a popup"},
		{"saas", "a subscription product with accounts, billing and roles"},
		{"automation", "a command that runs on a schedule and reports what it did"},
	}
}

// ReadTemplate returns the PRD of a template, in Markdown.
func ReadTemplate(name string) ([]byte, error) {
	data, err := importerTemplates.ReadFile("templates/" + name + ".md")
	if err != nil {
		var names []string
		for _, t := range Templates() {
			names = append(names, t.Name)
		}
		return nil, fmt.Errorf("unknown template %q; known: %s", name, strings.Join(names, ", "))
	}
	return data, nil
}
