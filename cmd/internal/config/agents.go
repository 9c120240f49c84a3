package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"mvdan.cc/sh/v3/syntax"

	"ralph/runner/agent"
	"ralph/runner/agent/ending"
	"ralph/state/option"
	"ralph/state/projectfs"
)

// agentsKey is the key of config.yaml for the user's own agents.
const agentsKey = "agents"

// Keys of an agent's row besides those that package agent names.
const (
	outputPty  = "pty"
	outputPipe = "pipe"
)

func agentKeys() []string {
	return []string{agent.FieldCommand, agent.FieldPrompt, agent.FieldFormat, agent.FieldOutput, agent.FieldResume,
		agent.FieldModel, agent.FieldAllowed, agent.FieldBypass, agent.FieldVersion, agent.FieldModels,
		agent.FieldLogin, agent.FieldAbout, agent.FieldEnv, agent.FieldKeys, agent.FieldHome, agent.FieldPatterns}
}

// ownAgent is an agent of the user's own.
type ownAgent struct {
	custom agent.CustomRow
	spec   agent.Spec
}

// Agents returns the user's own agents, in the order of the files.
func (c *Config) Agents() []agent.Spec {
	var specs []agent.Spec
	for _, row := range c.agents {
		if !row.row.custom.OfBuiltIn() {
			specs = append(specs, row.row.spec)
		}
	}
	return specs
}

// AllAgents returns the built-in agents, and then the user's own.
func (c *Config) AllAgents() []agent.Spec { return append(agent.Specs(), c.Agents()...) }

// Spec returns the agent of that name, built in or the user's own. The error
// names all of them.
func (c *Config) Spec(name string) (agent.Spec, error) {
	s, err := agent.Find(name, c.Agents()...)
	for _, row := range c.agents {
		if err == nil && row.row.spec.Name == s.Name {
			return row.row.spec, nil // with the user's patterns
		}
	}
	return s, err
}

// EnvFilter decides which environment variables agents and checks get.
func (c *Config) EnvFilter() agent.EnvFilter {
	return agent.EnvFilter{Custom: c.Agents(), Exclude: c.EnvExclude}
}

// AgentSource returns where an agent is defined; for a built-in one, the zero
// Source, whose Kind is empty.
func (c *Config) AgentSource(name string) Source {
	for _, row := range c.agents {
		if row.row.spec.Name == name && !row.row.custom.OfBuiltIn() {
			return row.source
		}
	}
	return Source{}
}

// wordField is a key whose values are arguments or names.
type wordField struct {
	key   string
	words *[]string
}

// wordFields are the keys whose values are arguments or names, in the order in which a person is asked about them.
func wordFields(c *agent.CustomRow) []wordField {
	return []wordField{{agent.FieldCommand, &c.Command}, {agent.FieldEnv, &c.Env}, {agent.FieldResume, &c.Resume},
		{agent.FieldModel, &c.Model}, {agent.FieldAllowed, &c.Allowed}, {agent.FieldBypass, &c.Bypass},
		{agent.FieldVersion, &c.Version}, {agent.FieldModels, &c.Models}, {agent.FieldLogin, &c.Login},
		{agent.FieldKeys, &c.Keys}, {agent.FieldHome, &c.Home}}
}

// agentClaim shows what a row decides about programs, for a person and for the
// hash of the consent. What only reads the agent's output is left out.
func agentClaim(c agent.CustomRow) string {
	if c.OfBuiltIn() {
		return ""
	}
	text := fmt.Sprintf("%s.%s=%s", agentsKey, c.Name, showWords(c.Command))
	if c.Prompt == agent.PromptArg {
		text += " (prompt as an argument)"
	}
	for _, f := range wordFields(&c)[1:] {
		if len(*f.words) > 0 {
			text += "; " + f.key + ": " + showWords(*f.words)
		}
	}
	return text
}

// showWords joins words so that two different lists never look the same: control
// and bidi characters become escapes. Braces of placeholders need no quotes.
func showWords(words []string) string {
	shown := make([]string, len(words))
	for i, w := range words {
		var err error
		if shown[i] = w; w != "" && strings.Trim(w, plainWord) == "" {
			continue
		}
		if shown[i], err = syntax.Quote(w, syntax.LangBash); err != nil {
			shown[i] = strconv.Quote(w) // a null byte
		}
	}
	return strings.Join(shown, " ")
}

const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@%+{}"

// agents reads the rows under agents:.
func (r *yamlReader) agents(node ast.Node) error {
	switch n := node.(type) {
	case *ast.NullNode:
		return nil
	case *ast.MappingNode:
		for _, pair := range n.Values {
			if err := r.agent(pair); err != nil {
				return err
			}
		}
		return nil
	}
	return r.refuse(node, agentsKey+" must hold a mapping for each agent, by its name, not "+describe(node))
}

// agent reads one row.
func (r *yamlReader) agent(pair *ast.MappingValueNode) error {
	if pair.Key.IsMergeKey() {
		return r.refuse(pair.Key, "merge keys are not allowed")
	}
	name := pair.Key.GetToken().Value
	path := agentsKey + "." + name
	m, ok := pair.Value.(*ast.MappingNode)
	if !ok {
		return r.refuse(pair.Value, path+" must hold the keys "+strings.Join(agentKeys(),
			", ")+", not "+describe(pair.Value))
	}
	c := agent.CustomRow{Name: name, Prompt: agent.PromptStdin, Format: agent.FormatText}
	at := map[string]ast.Node{agent.FieldName: pair.Key}
	seen := map[string]bool{}
	for _, field := range m.Values {
		key, err := r.key(field.Key, seen)
		if err != nil {
			return err
		}
		if at[key] = field.Value; field.Value.Type() == ast.NullType {
			continue
		}
		if !slices.Contains(agentKeys(), key) {
			r.warnings = append(r.warnings, warnUnknown(r.where(field.Key), path+"."+key, option.Nearest(key, agentKeys())))
			continue
		}
		if err := r.agentField(&c, key, path, field.Value); err != nil {
			return err
		}
	}
	if len(c.Command) > 0 && strings.Contains(c.Command[0], "/") && !filepath.IsAbs(c.Command[0]) {
		c.Command[0] = filepath.Join(r.dir, c.Command[0])
	}
	spec, err := c.Spec()
	if err != nil {
		where := ast.Node(pair.Key)
		if field, is := errors.AsType[*agent.FieldError](err); is && at[field.Field] != nil {
			where = at[field.Field]
		}
		return r.refuse(where, path+": "+err.Error())
	}
	next := listed[ownAgent]{row: ownAgent{c, spec}, source: Source{r.kind, r.where(pair.Key)}}
	r.settings = append(r.settings, setting{row: func(c *Config) (warnings []Warning, err error) {
		c.agents, warnings, err = put(c.agents, next, path, func(o ownAgent) bool { return o.spec.Name == name })
		return warnings, err
	}})
	return nil
}

func (r *yamlReader) agentField(c *agent.CustomRow, key, path string, node ast.Node) (err error) {
	path += "." + key
	for _, f := range wordFields(c) {
		if f.key == key && key != agent.FieldEnv {
			*f.words, err = r.words(path, node)
			return err
		}
	}
	switch key {
	case agent.FieldEnv:
		return r.entries(path, node, func(name, value string) { c.Env = append(c.Env, name+"="+value) })
	case agent.FieldPatterns:
		return r.entries(path, node, func(class, match string) {
			if class == agent.PatternNone {
				class = string(ending.Unknown)
			}
			c.Patterns = append(c.Patterns, ending.Pattern{Class: ending.Class(class), Match: match})
		})
	}
	text, ok := scalar(node)
	switch {
	case !ok || !option.Printable(text):
		return r.refuse(node, path+" must be text on one line, not "+describe(node))
	case key == agent.FieldAbout:
		c.About = text
	case key == agent.FieldPrompt:
		c.Prompt = agent.PromptBy(text)
	case key == agent.FieldFormat:
		c.Format = agent.Format(text)
	case text != outputPty && text != outputPipe:
		return r.refuse(node, fmt.Sprintf("%s: %s is not one of %s, %s", path, quote(text), outputPty, outputPipe))
	default:
		c.Pipe = text == outputPipe
	}
	return nil
}

// entries reads a mapping of texts, or of lists of texts.
func (r *yamlReader) entries(path string, node ast.Node, add func(key, value string)) error {
	m, ok := node.(*ast.MappingNode)
	if !ok {
		return r.refuse(node, path+" must hold keys and values, not "+describe(node))
	}
	for _, pair := range m.Values {
		values := []ast.Node{pair.Value}
		if list, ok := pair.Value.(*ast.SequenceNode); ok {
			values = list.Values
		}
		for _, v := range values {
			text, ok := scalar(v)
			if !ok || !option.Printable(text) {
				return r.refuse(v, path+"."+pair.Key.GetToken().Value+" must be text on one line, not "+describe(v))
			}
			add(pair.Key.GetToken().Value, text)
		}
	}
	return nil
}

// words reads a list of arguments, or a command line in the shell's quoting.
func (r *yamlReader) words(path string, node ast.Node) ([]string, error) {
	if list, ok := node.(*ast.SequenceNode); ok {
		var words []string
		for _, item := range list.Values {
			text, ok := scalar(item)
			if !ok || !option.Printable(text) {
				return nil, r.refuse(item, path+" must be a list of plain values, not of "+describe(item))
			}
			words = append(words, text)
		}
		return words, nil
	}
	text, ok := scalar(node)
	if !ok {
		return nil, r.refuse(node, path+" must be a command line or a list of its words, not "+describe(node))
	}
	words, err := splitWords(text, r.env)
	if err != nil {
		return nil, r.refuse(node, path+": "+err.Error())
	}
	return words, nil
}

// Words splits a command line into words by the shell's quoting, and expands ${NAME} from env, which has the form of
// os.Environ. The error names any other shell syntax in it.
func Words(text string, env []string) ([]string, error) {
	return splitWords(text, Loader{Env: env}.envMap())
}

func splitWords(text string, env map[string]string) (words []string, err error) {
	plain := errors.New(quote(text) +
		" is not a plain command line: a program and its arguments, quoted where they hold spaces or signs")
	if !option.Printable(text) {
		return nil, plain
	}
	// With x in front, the shell's parser does not take "time" for a reserved word.
	tree, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader("x "+text), "")
	if err != nil || len(tree.Stmts) != 1 {
		return nil, plain
	}
	stmt := tree.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(stmt.Redirs) > 0 || stmt.Semicolon.IsValid() {
		return nil, plain
	}
	r := &rcReader{env: env, vars: map[string]string{}}
	for _, word := range call.Args[1:] {
		var out strings.Builder
		if err := r.expand(&out, word.Parts, false); err != nil {
			if bad, is := errors.AsType[*UsageError](err); is {
				return nil, errors.New(strings.TrimSuffix(bad.Problem, onlyData))
			}
			return nil, plain
		}
		if lit := word.Lit(); strings.HasPrefix(lit, "~") {
			return nil, errors.New(tildeProblem)
		}
		words = append(words, out.String())
	}
	if len(r.warnings) > 0 {
		return nil, errors.New(quote(text) + " holds a ${NAME} that is not set")
	}
	return words, nil
}

// AgentField is one line of an agent's row: a key, and its value as text.
type AgentField struct{ Key, Value string }

// AddAgent adds a row to the project's config.yaml and returns the agent as the
// next Load will. It changes nothing else in the file, and creates it if it is
// missing. Errors that the user can fix are *UsageError.
func (l Loader) AddAgent(name string, fields []AgentField) (agent.Spec, error) {
	spec, err := l.CheckAgent(name, fields)
	if err != nil {
		return agent.Spec{}, err
	}
	path := filepath.Join(l.Dir, yamlName)
	text, _, err := readFile(l.Dir, path, yamlName)
	if err != nil {
		return agent.Spec{}, err
	}
	old, _, err := l.yaml(yamlName, SourceProject, text)
	if err != nil {
		return agent.Spec{}, err
	}
	if at := agentsIn(old).AgentSource(name); at.Where != "" {
		return agent.Spec{}, &UsageError{at.Where, agentsKey + "." + name + " is there already: change it there"}
	}
	next := insertRow(text, name, fields)
	if now, _, err := l.yaml(yamlName, SourceProject, next); err != nil || len(now) != len(old)+1 {
		return agent.Spec{}, &UsageError{yamlName,
			"is written in a way that nothing can be added to: write agents: on a line of its own, " +
				"with one indented row for each agent"}
	}
	return spec, replaceText(projectfs.In(l.Dir), path, next)
}

// agentsIn has the agents of a file.
func agentsIn(settings []setting) *Config {
	c := &Config{}
	for _, s := range settings {
		if s.row != nil {
			_, _ = s.row(c) // one row of each name is enough
		}
	}
	return c
}

// CheckAgent is AddAgent without writing the file: it reads the fields in the way that Load reads them from there.
func (l Loader) CheckAgent(name string, fields []AgentField) (agent.Spec, error) {
	for _, f := range fields {
		if !option.Printable(f.Value) {
			return agent.Spec{}, &UsageError{"agent " + quote(name), f.Key + " must be text on one line"}
		}
	}
	rows, warnings, err := l.yaml("", SourceProject, insertRow("", name, fields))
	usage := (*UsageError)(nil)
	switch {
	case errors.As(err, &usage):
		return agent.Spec{}, &UsageError{"agent " + quote(name),
			strings.TrimPrefix(usage.Problem, agentsKey+"."+name+": ")}
	case err != nil:
		return agent.Spec{}, err
	}
	specs := agentsIn(rows).Agents()
	if len(specs) != 1 || specs[0].Name != name || len(warnings) > 0 {
		return agent.Spec{}, &UsageError{"agent " + quote(name), "cannot be written as a row"}
	}
	return specs[0], nil
}

// insertRow adds a row below agents:. Without such a line, it adds one at the end of the text.
func insertRow(text, name string, fields []AgentField) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	block := regexp.MustCompile(`(?m)^` + agentsKey + `:[ \t]*(?:#.*)?\n(?:(?:[ \t]*(?:#.*)?\n)*( +)[^\s#])?`)
	m := block.FindStringSubmatchIndex(text)
	if m == nil {
		if text != "" {
			text += "\n"
		}
		return text + agentsKey + ":\n" + rowText(name, fields, "  ")
	}
	indent := "  "
	if m[2] >= 0 { // that of the rows that are there
		indent = text[m[2]:m[3]]
	}
	at := m[0] + strings.IndexByte(text[m[0]:], '\n') + 1
	return text[:at] + rowText(name, fields, indent) + text[at:]
}

// rowText is a row, indented. In YAML, a text in quotes is one as in Go.
func rowText(name string, fields []AgentField, indent string) string {
	text := indent + name + ":\n"
	for _, f := range fields {
		text += fmt.Sprintf("%s  %s: %q\n", indent, f.Key, f.Value)
	}
	return text
}

// replaceText writes a settings file in one step, with the line ends that it had.
func replaceText(project projectfs.Dir, path, text string) error {
	if was, err := project.Read(path, maxFileSize); err == nil && strings.Contains(string(was), "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	err := project.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = project.Update(path, []byte(text), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", yamlName, err)
	}
	return nil
}
