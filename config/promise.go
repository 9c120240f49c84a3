package config

import (
	"slices"
	"strings"
	"unicode"

	"ralph/config/option"
)

// Whoever sets a key that stands for a check or a protection relies on it: a
// warning is read too late. So ralph refuses to start with one that it does not
// have.

// promises reports whether an unknown key reads like a check or a protection,
// or like a slip in the name of one that ralph has.
func promises(key string) bool {
	words := strings.FieldsFunc(strings.ToLower(key), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, word := range words {
		if slices.Contains(promiseWords(), word) {
			return true
		}
	}
	table := Table()
	var names []string
	for _, o := range table {
		names = append(append(names, o.Key, o.YAML), o.Aliases...)
	}
	near := func(name string) bool {
		found := nearest(name, names)
		return found != "" && slices.ContainsFunc(table, func(o option.Row) bool {
			return (o.Trust || o.Group == "Checks") &&
				(o.Key == found || o.YAML == found || slices.Contains(o.Aliases, found))
		})
	}
	return near(key) || near(strings.ToUpper(key))
}

func promiseWords() []string {
	return []string{
		"allow", "allowed", "allowlist", "approval", "approve", "audit", "block", "blocked", "blocklist", "build",
		"cheat", "check",
		"checks", "confirm", "container", "coverage", "denied", "deny", "denylist", "disallow", "disallowed", "docker",
		"forbid",
		"forbidden", "gate", "gates", "guard", "guardrail", "guardrails", "hook", "hooks", "integrity", "isolate",
		"isolation", "judge", "judges", "lint", "linter",
		"permission", "permissions", "protect", "protected", "protection", "qa", "readonly", "required", "safe",
		"safety", "sandbox",
		"secret", "secrets", "secure", "security", "test", "tests", "typecheck", "validate", "verify",
	}
}

// unknown is a warning, or the error for a key that promises something.
func unknown(where, key, suggestion string) (Warning, error) {
	if promises(key) {
		return "", &UsageError{where, "unknown key " + quote(key) +
			" reads like a check or a protection, which ralph does not have" +
			suggestion + "; correct or remove it to start"}
	}
	return warn(where, "unknown key %s%s", quote(key), suggestion), nil
}
