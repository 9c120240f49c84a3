package agent

// This file decides which environment variables the agent and the checks get:
// keys must not reach a program that does not need them.

import (
	"regexp"
	"slices"
	"strings"

	"ralph/logs"
	"ralph/logs/lazy"
	"ralph/state/option"
)

// Variables has the variables that an agent needs, and those that ralph sets for it.
type Variables struct {
	// Keys are the variables with its keys, as names or globs. They pass only to
	// this agent.
	Keys   []string `json:"keys,omitempty"`
	Clouds []cloud  `json:"clouds,omitempty"`

	Set       []string `json:"set,omitempty"`         // NAME=value, set for every call
	SetAsRoot []string `json:"set_as_root,omitempty"` // NAME=value, also set if the call runs as root and bypasses the permission rules
	Unset     []string `json:"unset,omitempty"`       // names, or prefixes ending in *, that it does not inherit
	Keep      []string `json:"keep,omitempty"`        // exceptions to Unset

	// State are the files and folders in the home folder that the CLI keeps between
	// calls, its login among them; folders end in a slash. A sandbox shows them to
	// this agent only.
	State []string `json:"state,omitempty"`
	// Fixed are those in State that have programs or settings which the CLI takes when the
	// user starts it, too: a sandbox lets nothing write them. A missing one is made, empty.
	Fixed []string `json:"fixed,omitempty"`
	// Reads are what the CLI needs besides State, such as its program; a sandbox lets it read them only.
	Reads []string `json:"reads,omitempty"`
	// Moved are variables that move a name elsewhere, as VARIABLE=NAME.
	Moved []string `json:"moved,omitempty"`
	// Copied are files in State that the CLI writes itself, although they have such settings.
	Copied []string `json:"copied,omitempty"`
	// Steers are files and folders of a project that make the CLI start programs; folders end in a slash. A
	// sandbox lets nothing write them, and a change of one is a finding of the audit.
	Steers []string `json:"steers,omitempty"`
	// Topics are how a task speaks of Steers, as regular expressions of words; nil: by the Name. Such a task may
	// change them.
	Topics []string `json:"topics,omitempty"`
}

// cloud is a provider whose keys other tools use, too. They pass only to a call
// that uses the provider.
type cloud struct {
	Keys   []string `json:"keys,omitempty"`   // names or globs
	If     []string `json:"if,omitempty"`     // one of these switches is on: names, or prefixes ending in *
	Models []string `json:"models,omitempty"` // or the model has one of these prefixes
}

// EnvFilter decides which environment variables agents and checks get, by entries. An entry holds names back, or passes them on if it
// starts with !. The last matching entry in this order decides; a name without one
// passes:
//
//	keys of all agents   held back
//	logs.SecretNameGlobs     held back
//	a value that is an address with a password   held back, unless the name ends in
//	                     _PROXY; an agent also gets those that end in _BASE_URL
//	the agent's own keys pass, but not to a check
//	Exclude
//	PATH, HOME           pass
type EnvFilter struct {
	Custom  []Spec   `json:"custom,omitempty"`  // the user's own agents
	Exclude []string `json:"exclude,omitempty"` // the user's entries, ENV_EXCLUDE; see validEnvEntry
}

func (f EnvFilter) agents() []Spec { return append(Specs(), f.Custom...) }

// Steering has the Steers and the Topics of all agents.
type Steering struct{ Files, Topics []string }

// Steering collects the files in a project that change what its agents do, and how tasks speak of them.
func (f EnvFilter) Steering() (all Steering) {
	for _, s := range f.agents() {
		topics := s.Env.Topics
		if topics == nil {
			topics = []string{regexp.QuoteMeta(s.Name)}
		}
		if len(s.Env.Steers) > 0 {
			all.Files, all.Topics = append(all.Files, s.Env.Steers...), append(all.Topics, topics...)
		}
	}
	return all
}

// validEnvEntry reports whether an entry is the name of a variable, or a glob with
// * for any text and ? for any character, with or without ! before it. Case
// does not matter.
func validEnvEntry(entry string) bool { return envEntryPattern().MatchString(entry) }

var envEntryPattern = lazy.Regexp(`^!?[A-Za-z0-9_*?]+$`)

// awsKeys returns the keys for Amazon Bedrock.
func awsKeys() []string {
	return []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_CONTAINER_AUTHORIZATION_TOKEN"}
}

// modelKeys returns the keys of model providers that more than one CLI supports.
func modelKeys() []string {
	return []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY",
		"DASHSCOPE_API_KEY", "DEEPSEEK_API_KEY", "MINIMAX_API_KEY", "MISTRAL_API_KEY", "MOONSHOT_API_KEY",
		"XAI_API_KEY"}
}

// providerKeys returns ModelKeys and the keys of other popular providers, for CLIs
// that support some 150 providers.
func providerKeys() []string {
	return append(modelKeys(), "AI_GATEWAY_API_KEY", "AZURE_API_KEY", "CEREBRAS_API_KEY", "CLOUDFLARE_API_KEY",
		"COHERE_API_KEY", "DEEPINFRA_API_KEY", "FIREWORKS_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
		"GROQ_API_KEY", "HF_TOKEN", "KIMI_API_KEY", "NVIDIA_API_KEY", "OLLAMA_API_KEY", "PERPLEXITY_API_KEY",
		"TOGETHER_API_KEY", "ZHIPU_API_KEY")
}

type rule struct {
	glob string // in upper case
	pass bool
	// address limits the rule to values that are an address with a password.
	address bool
}

// ruleSet holds rules in their order.
type ruleSet []rule

// decide returns the last matching rule for NAME=value, or one that passes it.
func (all ruleSet) decide(kv string) rule {
	name, value, _ := strings.Cut(kv, "=")
	// * does not always match a slash, which npm uses in names.
	name = strings.ReplaceAll(strings.ToUpper(name), "/", "_")
	for _, r := range slices.Backward(all) {
		if logs.MatchName(r.glob, name) && (!r.address || logs.KeyInAddress(value)) {
			return r
		}
	}
	return rule{pass: true}
}

// rules returns the rules for a call of an agent; for a check, both are zero.
func (f EnvFilter) rules(s Spec, r Request) ruleSet {
	var rules ruleSet
	for _, other := range f.agents() {
		for _, key := range other.Env.Keys {
			rules = append(rules, rule{glob: key})
		}
	}
	for _, entry := range logs.SecretNameGlobs() {
		glob, pass := strings.CutPrefix(entry, "!")
		rules = append(rules, rule{glob: glob, pass: pass})
	}
	// Without its proxy no program reaches the network, and without its endpoint an
	// agent calls another one.
	rules = append(rules, rule{glob: "*", address: true},
		rule{glob: "*_PROXY", pass: true, address: true})
	if s.Name != "" {
		rules = append(rules, rule{glob: "*_BASE_URL", pass: true, address: true})
	}
	own := slices.Clone(s.Env.Keys)
	for _, cloud := range s.Env.Clouds {
		if cloud.serves(r) {
			own = append(own, cloud.Keys...)
		}
	}
	for _, key := range own {
		rules = append(rules, rule{glob: key, pass: true})
	}
	for _, entry := range f.Exclude {
		glob, pass := strings.CutPrefix(entry, "!")
		rules = append(rules, rule{glob: glob, pass: pass})
	}
	// Without these two, programs do not start.
	rules = append(rules, rule{glob: "PATH", pass: true}, rule{glob: "HOME", pass: true})
	for i := range rules {
		rules[i].glob = strings.ToUpper(rules[i].glob)
	}
	return rules
}

// serves reports whether the call uses the cloud.
func (c cloud) serves(call Request) bool {
	return slices.ContainsFunc(call.Env, func(kv string) bool { return turnsOn(c.If, kv) }) ||
		slices.ContainsFunc(c.Models, func(prefix string) bool { return strings.HasPrefix(call.Model, prefix) })
}

// turnsOn reports whether NAME=value switches on one of these names.
func turnsOn(names []string, kv string) bool {
	name, value, _ := strings.Cut(kv, "=")
	return matches(names, name) && !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(value))
}

// passing returns the variables that pass. It never returns nil, which os/exec
// takes for all of ralph's own environment.
func (all ruleSet) passing(env []string) []string {
	kept := make([]string, 0, len(env))
	for _, kv := range env {
		if all.decide(kv).pass {
			kept = append(kept, kv)
		}
	}
	return kept
}

// Checks returns the variables of env (NAME=value) that a check gets.
func (f EnvFilter) Checks(env []string) []string { return f.rules(Spec{}, Request{}).passing(env) }

// env returns the environment of a call: the variables that pass, except those of another session of the agent, and
// those that ralph sets.
func (s Spec) env(r Request) []string {
	set, replaced := s.set(r)
	return append(slices.DeleteFunc(r.Filter.rules(s, r).passing(r.Env), replaced), set...)
}

// set returns what ralph sets for a call. replaced reports whether NAME=value is replaced by that, or comes from another
// session of the agent.
func (s Spec) set(r Request) (set []string, replaced func(kv string) bool) {
	set = slices.Clone(s.Env.Set)
	if r.Root && r.PermissionMode == PermitBypass {
		set = append(set, s.Env.SetAsRoot...)
	}
	return set, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return s.Env.leftBehind(name) ||
			slices.ContainsFunc(set, func(own string) bool { return strings.HasPrefix(own, name+"=") })
	}
}

// leftBehind reports whether the variable comes from another session of the agent.
func (a Variables) leftBehind(name string) bool {
	return matches(a.Unset, name) && !matches(a.Keep, name)
}

// Withheld returns the names of r.Env that the agent does not get, sorted.
func (f EnvFilter) Withheld(s Spec, r Request) []string {
	own := f.rules(s, r)
	_, replaced := s.set(r)
	var names []string
	for _, kv := range r.Env {
		if name, _, _ := strings.Cut(kv, "="); !own.decide(kv).pass && !replaced(kv) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// HasKey reports whether r.Env has a variable that the agent gets and no check: a key of the agent.
func (f EnvFilter) HasKey(s Spec, r Request) bool {
	own, checks := f.rules(s, r), f.rules(Spec{}, Request{})
	return slices.ContainsFunc(r.Env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return own.decide(kv).pass && !checks.decide(kv).pass && !s.Env.leftBehind(name)
	})
}

// Secrets returns the values of r.Env that must not be shown: of variables that the
// agent or a check does not get, and of those that look like secrets even if they pass.
func (f EnvFilter) Secrets(s Spec, r Request) []string {
	own, checks := f.rules(s, r), f.rules(Spec{}, Request{})
	var values []string
	for _, kv := range r.Env {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_CONFIG_KEY_") {
			continue // it is held back only because its value is
		}
		if !own.decide(kv).pass || !checks.decide(kv).pass || logs.IsSecretName(name) || logs.KeyInAddress(value) {
			values = append(values, value)
		}
	}
	return values
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, wild := strings.CutSuffix(p, "*")
		return p == name || wild && strings.HasPrefix(name, prefix)
	})
}

// EnvExclusion is what a user can say about variables.
type EnvExclusion struct {
	EnvExclude []string // Filter.Exclude
}

// Options returns the rows of the option table that fill e.
func (e *EnvExclusion) Options() []option.Row {
	return []option.Row{{
		Group: "Environment", Key: "ENV_EXCLUDE", YAML: "env.exclude",
		Kind: option.Env, Valid: validEnvEntry, Trust: true, Field: &e.EnvExclude,
		Help: "Environment variables to withhold from agents and checks, or to pass on if they start with !; " +
			"applies after the built-in rules, and the last match decides.",
	}}
}
