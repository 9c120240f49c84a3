package agent

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// SecretNames are the built-in entries of an EnvFilter: names that have the
// shape of a secret. Names that a test run needs more often than they hold a
// secret, such as DATABASE_URL, are left out.
func SecretNames() []string {
	return []string{"*TOKEN", "*TOKEN_*", "*API_TOKENS", "*ACCESS_TOKENS", "*SECRET", "*SECRETS", "*SECRET_*",
		"*PASSWORD*", "PASSWD", "*_PASSWD", "PASS", "*_PASS", "SSHPASS", "*PASSPHRASE", "MYSQL_PWD",
		"*API_KEY*", "*APIKEY*", "*_ACCESS_KEY*", "*PRIVATE_KEY*", "*_MASTER_KEY", "*_ADMIN_KEY", "*_SIGNING_KEY", "*_STORAGE_KEY",
		"*_CREDENTIALS", "*_PAT", "*_AUTH", "*_AUTH_CONFIG",
		"DIRENV_DIFF", // every variable that direnv has set, with its value
		// Without its values git ends at their count: all of them or none.
		"GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_*", "GIT_CONFIG_VALUE_*", "GIT_CONFIG_PARAMETERS",
		// Places and switches.
		"!*_FILE", "!*_PATH", "!*ABLE_AUTH", "!*SKIP_*", "!PASSWORD_STORE_*", "!XDG_*"}
}

// EnvFilter decides which variables of its surroundings an agent or a check
// gets, by their names. Entries hold back, or with ! before them let pass; they
// are looked at in this order, the last one that matches decides, and what none
// matches passes:
//
//	keys of all agents   held back
//	SecretNames
//	the agent's own keys pass, not for a check
//	Exclude
//	PATH, HOME           pass
//
// The zero filter is that of a user who has set nothing.
type EnvFilter struct {
	Custom  []Spec   // rows of the user's own
	Exclude []string // the user's entries; see ValidEnvEntry
}

// ValidEnvEntry tells whether an entry is the name of a variable, or a glob
// with * for any text and ? for any character, with or without ! before it.
// Upper and lower case are the same.
func ValidEnvEntry(entry string) bool { return envEntry().MatchString(entry) }

var envEntry = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^!?[A-Za-z0-9_*?]+$`) })

type envRule struct {
	glob string // in upper case
	pass bool
	why  string // for people; empty: nothing to tell
}

// envRules are rules in their order. Most name one variable, and are found by it.
type envRules struct {
	rules []envRule
	exact map[string]int // the last rule of each whole name
	globs []int          // the others
}

func newEnvRules(rules []envRule) envRules {
	all := envRules{rules: rules, exact: map[string]int{}}
	for i, r := range rules {
		rules[i].glob = strings.ToUpper(r.glob)
		if strings.ContainsAny(r.glob, "*?") {
			all.globs = append(all.globs, i)
		} else {
			all.exact[rules[i].glob] = i
		}
	}
	return all
}

// decide returns the last rule that matches; when none does, one that passes.
func (all envRules) decide(name string) envRule {
	// No * of path.Match stands for a slash, which some names of npm have.
	name = strings.ReplaceAll(strings.ToUpper(name), "/", "_")
	last, found := all.exact[name]
	if !found {
		last = -1
	}
	for _, i := range slices.Backward(all.globs) {
		if i < last {
			break
		}
		if ok, _ := path.Match(all.rules[i].glob, name); ok { // an entry is never malformed
			last = i
			break
		}
	}
	if last < 0 {
		return envRule{pass: true}
	}
	return all.rules[last]
}

// rules are those for a call of an agent; for the zero Spec those for a check.
func (f EnvFilter) rules(s Spec, r Request) envRules {
	var rules []envRule
	for _, row := range append(Specs(), f.Custom...) {
		for _, key := range row.Keys {
			rules = append(rules, envRule{key, false, "key of " + row.Name})
		}
	}
	for _, entry := range SecretNames() {
		glob, pass := strings.CutPrefix(entry, "!")
		rule := envRule{glob, pass, "default " + entry}
		if pass {
			rule.why = ""
		}
		rules = append(rules, rule)
	}
	own := slices.Clone(s.Keys)
	for _, cloud := range s.Clouds {
		if cloud.serves(r) {
			own = append(own, cloud.Keys...)
		}
	}
	for _, key := range own {
		rules = append(rules, envRule{key, true, "key of " + s.Name})
	}
	for _, entry := range f.Exclude {
		glob, pass := strings.CutPrefix(entry, "!")
		rule := envRule{glob, pass, "ENV_EXCLUDE " + entry}
		if !strings.ContainsAny(glob, "*?") {
			rule.why = "ENV_EXCLUDE names it"
		}
		rules = append(rules, rule)
	}
	// Without these nothing can be found or started.
	rules = append(rules, envRule{"PATH", true, ""}, envRule{"HOME", true, ""})
	return newEnvRules(rules)
}

// serves tells whether a call uses the cloud.
func (c Cloud) serves(r Request) bool {
	return slices.ContainsFunc(r.Env, func(kv string) bool { return turnsOn(c.If, kv) }) ||
		slices.ContainsFunc(c.Models, func(begin string) bool { return strings.HasPrefix(r.Model, begin) })
}

// turnsOn tells whether NAME=value is a switch of these names that is on.
func turnsOn(names []string, kv string) bool {
	name, value, _ := strings.Cut(kv, "=")
	return matchName(names, name) && !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(value))
}

// passing keeps what passes. It never returns nil, which would stand for all of
// ralph's own environment.
func passing(rules envRules, env []string) []string {
	kept := make([]string, 0, len(env))
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); rules.decide(name).pass {
			kept = append(kept, kv)
		}
	}
	return kept
}

// Agent returns what of r.Env, NAME=value, the agent gets.
func (f EnvFilter) Agent(s Spec, r Request) []string { return passing(f.rules(s, r), r.Env) }

// Checks returns what of env, NAME=value, a check gets.
func (f EnvFilter) Checks(env []string) []string { return passing(f.rules(Spec{}, Request{}), env) }

// EnvState is what becomes of a variable.
type EnvState string

// The states. Of an agent's variables, EnvSet is one that its row sets and
// EnvUnset one that another agent session left behind; of a check's, EnvUnset
// is one that there is none of.
const (
	EnvPasses EnvState = "passes"
	EnvHeld   EnvState = "held"
	EnvSet    EnvState = "set"
	EnvUnset  EnvState = "unset"
)

// EnvRow is what becomes of one variable. It has no value.
type EnvRow struct {
	Name   string
	Agent  EnvState
	Checks EnvState
	Why    string // empty: nothing speaks against the variable
}

// List tells what becomes of every variable of r.Env, and of those that ralph
// sets for the call, by their names in order.
func (f EnvFilter) List(s Spec, r Request) []EnvRow {
	rows := map[string]EnvRow{}
	own, checks := f.rules(s, r), f.rules(Spec{}, Request{})
	for _, kv := range r.Env {
		name, _, _ := strings.Cut(kv, "=")
		mine, theirs := own.decide(name), checks.decide(name)
		row := EnvRow{Name: name, Agent: EnvPasses, Checks: EnvPasses, Why: cmp.Or(mine.why, theirs.why)}
		if !mine.pass {
			row.Agent = EnvHeld
		}
		if !theirs.pass {
			row.Checks = EnvHeld
		}
		if s.leftBehind(name) {
			row.Agent, row.Why = EnvUnset, "outer agent session"
		}
		rows[name] = row
	}
	for _, kv := range s.set(r) {
		name, _, _ := strings.Cut(kv, "=")
		row := EnvRow{Name: name, Agent: EnvSet, Checks: cmp.Or(rows[name].Checks, EnvUnset), Why: "set by ralph"}
		rows[name] = row
	}
	return slices.SortedFunc(maps.Values(rows), func(a, b EnvRow) int { return strings.Compare(a.Name, b.Name) })
}

// Held names what of r.Env the agent does not get, in order.
func (f EnvFilter) Held(s Spec, r Request) []string {
	var names []string
	for _, row := range f.List(s, r) {
		if row.Agent == EnvHeld {
			names = append(names, row.Name)
		}
	}
	return names
}

// Few is as many names as a line about them can take.
func Few(names []string) string {
	const most = 5
	shown := strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	return shown
}

// set is what the row sets for a call.
func (s Spec) set(r Request) []string {
	set := slices.Clone(s.Env)
	if r.Root && r.PermissionMode == PermitBypass {
		set = append(set, s.RootEnv...)
	}
	return set
}

// leftBehind tells whether a surrounding agent session has set the variable.
func (s Spec) leftBehind(name string) bool {
	return matchName(s.UnsetEnv, name) && !matchName(s.KeepEnv, name)
}

// environ is the environment of the call: what is held back and what a
// surrounding agent session left behind is taken out, the row's own settings win.
func (s Spec) environ(r Request) []string {
	set := s.set(r)
	env := make([]string, 0, len(r.Env)+len(set))
	for _, kv := range r.Filter.Agent(s, r) {
		name, _, _ := strings.Cut(kv, "=")
		if !s.leftBehind(name) && !slices.ContainsFunc(set, func(o string) bool { return strings.HasPrefix(o, name+"=") }) {
			env = append(env, kv)
		}
	}
	return append(env, set...)
}

func matchName(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, wild := strings.CutSuffix(p, "*")
		return p == name || wild && strings.HasPrefix(name, prefix)
	})
}
