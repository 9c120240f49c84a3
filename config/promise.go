package config

import (
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"ralph/config/option"
)

// A user who sets a key for a check or a protection relies on it, and may read a
// warning too late. So ralph refuses to start with such a key if it does not know
// it.

// promises reports whether an unknown key reads like a check or a protection,
// or like a misspelled name of one that ralph has.
func promises(key string) bool {
	words := wordsOf(key)
	last := wordsOf(key[strings.LastIndexByte(key, '.')+1:])
	if pointsTo(key) || len(last) > 1 && slices.Contains(attributes(), last[len(last)-1]) {
		return false
	}
	if len(last) == 1 && slices.Contains(checkers(), last[0]) { // PYTEST_ADDOPTS is for the program itself
		return true
	}
	for i := range words {
		joined := "" // read_only, read-only and readOnly are one word
		for _, word := range words[i:min(i+3, len(words))] {
			if joined += word; isPromise(joined) && !describes(words[i], last) {
				return true
			}
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

// wordsOf splits a key into words in lower case, without a number at their end.
func wordsOf(key string) (words []string) {
	var last rune
	for _, r := range key {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = 0
		case last == 0, unicode.IsUpper(r) && unicode.IsLower(last):
			words = append(words, string(unicode.ToLower(r)))
		default:
			words[len(words)-1] += string(unicode.ToLower(r))
		}
		last = r
	}
	for i, word := range words {
		words[i] = strings.TrimRight(word, "0123456789")
	}
	return words
}

func isPromise(word string) bool {
	return slices.Contains(promiseWords(), word) ||
		slices.ContainsFunc(promiseStems(), func(stem string) bool { return strings.HasPrefix(word, stem) })
}

// describes reports whether the last words of a key only describe a thing whose name is also
// that of a check or a protection, such as BACKUP_DIR, or name a vendor's credentials.
func describes(word string, last []string) bool {
	attribute := last[len(last)-1]
	is := func(words ...string) bool { return len(last) > 1 && slices.Contains(words, attribute) }
	switch word {
	case "credential", "credentials":
		vendors := []string{"application", "aws", "azure", "db", "docker", "firebase", "gcp", "git", "google", "npm"}
		file := len(last) == 2 && last[0] == word && is("file", "path")
		return file || attribute == word && len(last) > 1 && slices.Contains(vendors, last[0])
	case "backup", "backups", "network":
		return is("dir", "directory", "host", "name", "path", "port", "retention", "timeout", "url")
	case "build", "coverage", "review", "test":
		return is("dir", "directory", "host", "id", "number", "port", "url", "user", "version")
	case "docker":
		return is("host", "registry")
	case "guardian", "judge":
		return is("name", "url")
	}
	return false
}

// attributes are last words of keys that neither check nor protect anything.
func attributes() []string {
	return []string{"color", "colour", "column", "contact", "contacts", "email", "interface", "logo", "mail", "phone",
		"table", "title"}
}

// pointsTo reports whether a path in YAML only says where something lies, or whom to ask
// about it, such as reports.coverage.
func pointsTo(path string) bool {
	places := []string{"artifacts", "contacts", "docs", "emails", "links", "outputs", "paths", "reports", "urls"}
	things := []string{"audit", "audits", "backup", "backups", "build", "coverage", "e2e", "lint", "quality", "review",
		"reviews", "security", "test", "tests"}
	parts := strings.Split(strings.ToLower(path), ".")
	n := len(parts)
	return n > 1 && slices.Contains(places, parts[n-2]) && slices.Contains(things, parts[n-1])
}

// promiseStems are beginnings of words.
func promiseStems() []string {
	return []string{
		"allow", "approv", "authoriz", "backpressure", "blacklist", "budget", "confin", "confirm",
		"contain", "coverage", "danger", "deny", "denie", "destruct", "disallow", "enforc", "exclu", "firewall",
		"forbid", "guard", "immutab", "isolat", "judge", "lint", "mandator", "permission", "permit", "prevent",
		"privileg", "prohibit", "protect", "quarantin", "readonly", "redact", "restrict", "review", "rollback",
		"sandbox", "secret", "secur", "supervis", "tamper", "trust", "typecheck", "validat", "verif", "vulnerab",
		"whitelist", "writable",
	}
}

// promiseWords are whole words: of some, longer ones mean something else.
func promiseWords() []string {
	return []string{
		"acceptance", "assert", "assertions", "audit", "audits", "backup", "backups", "baseline", "block", "blocked",
		"blocklist", "build", "cheat", "cheating", "check", "checks", "compile", "consent", "constraint", "constraints",
		"credential", "credentials", "docker", "donttouch", "dryrun", "egress", "endtoend", "evidence", "e2e",
		"failfast", "frozen", "gate", "gates", "hook", "hooks", "integrity", "internet", "intheloop", "invariant",
		"invariants", "jail", "keepout", "landlock", "locked", "network", "networking", "never", "noedit",
		"nointernet", "nonet", "nopush", "nottouch", "notouch", "nowrite", "offline", "offlimits", "podman",
		"precommit", "premerge", "prepush", "proof", "qa", "quality", "regression", "regressions", "required", "safe",
		"safeguard", "safeguards", "safely", "safety", "seccomp", "smoke", "spend",
		"spending", "stoponerror", "stoponfailure", "strict", "sudo", "test", "testing", "tests", "threshold",
		"thresholds", "unittest", "unittests", "vet",
	}
}

// checkers are programs that check.
func checkers() []string {
	return []string{"bandit", "biome", "clippy", "cypress", "eslint", "gitleaks", "golangci", "jest", "mypy", "oxlint",
		"playwright", "prettier", "pyright", "pytest", "ruff", "semgrep", "shellcheck", "trivy", "tsc", "vitest"}
}

// promise returns the first option at or below an unknown path whose name promises a check or a
// limit that ralph would not keep, and where it is; empty: there is none. A null value asks for nothing.
func promise(path string, pair *ast.MappingValueNode) (string, ast.Node) {
	if promises(path) {
		return path, pair.Key
	}
	nodes := []ast.Node{pair.Value}
	if list, ok := pair.Value.(*ast.SequenceNode); ok {
		nodes = list.Values
	}
	for _, node := range nodes {
		m, ok := node.(*ast.MappingNode)
		if !ok {
			continue
		}
		for _, below := range m.Values {
			name := path + "." + below.Key.GetToken().Value
			if below.Value.Type() == ast.NullType {
				continue
			}
			if found, at := promise(name, below); found != "" {
				return found, at
			}
		}
	}
	return "", nil
}

// unknown is a warning, or the error for a key that promises something.
func unknown(where, key, suggestion string) (Warning, error) {
	if !promises(key) {
		return warn(where, "unknown key %s%s", quote(key), suggestion), nil
	}
	if suggestion == "" && !slices.Contains([]string{checksKey, hooksKey, judgesKey}, parentPath(key)) {
		suggestion = alternative(key)
	}
	return "", &UsageError{where, "unknown key " + quote(key) +
		" reads like a check or a protection, which ralph does not have" +
		suggestion + "; correct or remove it to start"}
}

// parentPath is the path above a key.
func parentPath(key string) string { return key[:max(0, strings.LastIndexByte(key, '.'))] }

// alternative names what ralph has for the same purpose; empty: nothing similar.
func alternative(key string) string {
	for _, row := range []struct{ have, beginnings string }{
		{"SANDBOX_NET", "egress firewall internet net network offline nointernet"},
		{"SANDBOX", "confin contain docker isolat jail landlock podman sandbox seccomp"},
		{"MAX_COST_USD", "budget spend"},
		{"QA or JUDGES", "judge qa review supervis"},
		{"ENV_EXCLUDE", "credential secret"},
		{"LINT_COMMAND", "lint"},
		{"TYPECHECK_COMMAND", "typecheck"},
		{"TEST_COMMAND", "acceptance coverage e2e endtoend regression smoke test unittest"},
		{"BUILD_COMMAND", "build compile"},
		{"`ralph undo`", "backup rollback"},
		{"HOOK_PRE_COMMIT and other hooks", "hook precommit premerge prepush"},
		{"a row of checks in .ralph/config.yaml", "audit check gate quality secur validat verif vet"},
		{"ALLOWED_TOOLS", "allow approv blacklist block danger den destruct forbid permi prohibit restrict whitelist"},
	} {
		words := wordsOf(key)
		for i := range words {
			joined := ""
			for _, word := range words[i:min(i+3, len(words))] {
				joined += word
				if slices.ContainsFunc(strings.Fields(row.beginnings), func(stem string) bool {
					return isPromise(joined) && strings.HasPrefix(joined, stem)
				}) {
					return "; ralph has " + row.have
				}
			}
		}
	}
	return ""
}
