package scaffold

import (
	"embed"
	"fmt"
	"slices"
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

// ReadTemplate returns the PRD of a template, in Markdown. Other tools call theirs prd-fullstack-app or
// prd-chrome-extension.
func ReadTemplate(name string) ([]byte, error) {
	var names []string
	for _, t := range Templates() {
		if name == t.Name || strings.HasPrefix(name, "prd-") && slices.Contains(strings.Split(name, "-"), t.Name) {
			return importerTemplates.ReadFile("templates/" + t.Name + ".md")
		}
		names = append(names, t.Name)
	}
	return nil, fmt.Errorf("unknown template %q; known: %s", name, strings.Join(names, ", "))
}
