package agent

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// SecretNames are the built-in entries of an EnvFilter: names that have the
// shape of a secret. Names that a test run needs more often than they hold a
// secret, such as DATABASE_URL, are left out.
func SecretNames() []string {
	return []string{"*TOKEN", "*SECRET", "*SECRET_*", "*PASSWORD", "*_PASSWD", "*_PASS", "*_PASSPHRASE", "MYSQL_PWD", "*API_KEY", "*APIKEY",
		"*_ACCESS_KEY*", "*_PRIVATE_KEY", "*_MASTER_KEY", "*_CREDENTIALS", "*_PAT", "!XDG_*"}
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
//
// The zero filter is that of a user who has set nothing.
type EnvFilter struct {
	Custom  []Spec   // rows of the user's own
	Exclude []string // the user's entries; see ValidEnvEntry
}

// ValidEnvEntry tells whether an entry is the name of a variable, or a glob
// with * for any text and ? for any character, with or without ! before it.
// Upper and lower case are the same.
func ValidEnvEntry(entry string) bool {
	return regexp.MustCompile(`^!?[A-Za-z0-9_*?]+$`).MatchString(entry)
}

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

// rules are those for an agent, by the environment that it will work in; for
// the zero Spec those for a check.
func (f EnvFilter) rules(s Spec, env []string) envRules {
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
	own := s.Keys
	if slices.ContainsFunc(env, func(kv string) bool { return turnsOn(s.CloudIf, kv) }) {
		own = append(slices.Clone(own), s.CloudKeys...)
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
	return newEnvRules(rules)
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

// Agent returns what of env, NAME=value, the agent gets.
func (f EnvFilter) Agent(s Spec, env []string) []string { return passing(f.rules(s, env), env) }

// Checks returns what of env, NAME=value, a check gets.
func (f EnvFilter) Checks(env []string) []string { return passing(f.rules(Spec{}, env), env) }

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
	own, checks := f.rules(s, r.Env), f.rules(Spec{}, r.Env)
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
	for _, kv := range r.Filter.Agent(s, r.Env) {
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
