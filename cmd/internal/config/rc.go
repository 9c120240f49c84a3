package config

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxExpanded bounds a value after its ${NAME}s: a few lines that each double
// the one before would otherwise fill the memory.
const maxExpanded = maxFileSize

// assignment is one KEY=value of .ralphrc.
type assignment struct {
	name, value string
	line        int
	again       int  // line of an earlier value that this one replaces, and nothing used; 0: there is none
	used        bool // another key uses its value
	tilde       bool // it has a ~ that a shell would expand
}

// rcReader reads .ralphrc as data. It uses the shell's grammar, so that quotes mean
// the same as in a shell, but never runs anything: all but plain assignments are
// errors.
type rcReader struct {
	file     string // name in messages
	env      map[string]string
	vars     map[string]string // earlier keys of this file
	used     map[string]bool   // keys whose values other keys use
	tilde    map[string]bool   // keys with a ~ that a shell would expand
	lines    map[string]int    // of the earlier keys
	warnings []Warning
}

// parseRC returns the assignments of a .ralphrc in order; unset names in
// ${NAME} count as empty and give a warning. Errors are *UsageError.
func parseRC(text string, env map[string]string) ([]assignment, []Warning, error) {
	r := &rcReader{file: rcName, env: env, vars: map[string]string{}, used: map[string]bool{}, tilde: map[string]bool{},
		lines: map[string]int{}}
	tree, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, nil, r.syntaxError(err)
	}
	var all []assignment
	for _, stmt := range tree.Stmts {
		some, err := r.statement(stmt)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, some...)
	}
	for i := range all {
		all[i].used = r.used[all[i].name]
	}
	return all, r.warnings, nil
}

func (r *rcReader) refuse(pos syntax.Pos, problem string) error {
	return &UsageError{lineOf(r.file, int(pos.Line())), problem}
}

func (r *rcReader) syntaxError(err error) error {
	var pos syntax.Pos
	var parse syntax.ParseError
	var lang syntax.LangError
	switch {
	case errors.As(err, &parse):
		if pos = parse.Pos; strings.Contains(parse.Text, "without closing") ||
			strings.Contains(parse.Text, "without matching") {
			return r.refuse(pos, "a quote or bracket is not closed; "+needsQuotes)
		}
	case errors.As(err, &lang):
		pos = lang.Pos
	}
	return r.refuse(pos, "is not KEY=value; "+needsQuotes)
}

const needsQuotes = `a value with spaces, parentheses or other signs needs quotes: KEY="a value"`

func (r *rcReader) statement(stmt *syntax.Stmt) ([]assignment, error) {
	switch {
	case len(stmt.Redirs) > 0:
		return nil, r.refuse(stmt.Redirs[0].Pos(), "redirections are not allowed"+onlyData)
	case stmt.Semicolon.IsValid():
		return nil, r.refuse(stmt.Semicolon, "; and & are not allowed"+onlyData)
	case stmt.Negated:
		return nil, r.refuse(stmt.Pos(), "commands are not allowed"+onlyData)
	}
	var assigns []*syntax.Assign
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) > 0 {
			return nil, r.refuse(cmd.Args[0].Pos(), commandProblem(cmd))
		}
		assigns = cmd.Assigns
	case *syntax.DeclClause:
		if cmd.Variant.Value != "export" {
			return nil, r.refuse(cmd.Pos(), cmd.Variant.Value+" is not allowed"+onlyData)
		}
		assigns = cmd.Args
	case *syntax.FuncDecl:
		return nil, r.refuse(stmt.Pos(), "functions are not allowed"+onlyData)
	default:
		return nil, r.refuse(stmt.Pos(), "commands are not allowed"+onlyData)
	}
	var all []assignment
	for _, assign := range assigns {
		one, err := r.assign(assign)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

const tildeProblem = "~ is not expanded: write ${HOME}"

const onlyData = ": the file is data and is never run, it may only hold KEY=value lines"

func commandProblem(cmd *syntax.CallExpr) string {
	if len(cmd.Assigns) > 0 {
		return "a value with spaces needs quotes: " + cmd.Assigns[0].Name.Value + `="..."`
	}
	if len(cmd.Args) > 1 && strings.HasPrefix(cmd.Args[1].Lit(), "=") {
		return "no spaces are allowed around ="
	}
	return "commands are not allowed" + onlyData
}

func (r *rcReader) assign(a *syntax.Assign) (assignment, error) {
	switch {
	case a.Name == nil || a.Naked:
		return assignment{}, r.refuse(a.Pos(), "export needs KEY=value")
	case a.Array != nil:
		return assignment{}, r.refuse(a.Pos(), "arrays are not allowed: write a list as "+a.Name.Value+`="one,two"`)
	case a.Append || a.Index != nil:
		return assignment{}, r.refuse(a.Pos(), "only KEY=value is allowed, neither += nor an index")
	}
	var value strings.Builder
	name, tilde := a.Name.Value, false
	if a.Value != nil {
		for i, part := range a.Value.Parts {
			lit, ok := part.(*syntax.Lit)
			if ok && (i == 0 && strings.HasPrefix(lit.Value, "~") || strings.Contains(lit.Value, ":~")) {
				tilde = true // an error only if ralph uses the key
			}
		}
		if err := r.expand(&value, a.Value.Parts, false); err != nil {
			return assignment{}, err
		}
	}
	one := assignment{name: name, value: value.String(), line: int(a.Pos().Line()), tilde: tilde}
	if !r.used[name] { // as NAME="${NAME},more" does
		one.again = r.lines[name]
	}
	r.vars[name], r.tilde[name], r.lines[name] = one.value, tilde, one.line
	return one, nil
}

// expand appends what the parts of a word stand for.
func (r *rcReader) expand(out *strings.Builder, parts []syntax.WordPart, quoted bool) error {
	for _, part := range parts {
		var err error
		switch p := part.(type) {
		case *syntax.Lit:
			out.WriteString(unescape(p.Value, quoted))
		case *syntax.SglQuoted:
			if p.Dollar {
				return r.refuse(p.Pos(), "$'...' is not allowed: use '...' or \"...\"")
			}
			out.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return r.refuse(p.Pos(), `$"..." is not allowed: use "..."`)
			}
			err = r.expand(out, p.Parts, true)
		case *syntax.ParamExp:
			err = r.parameter(out, p, quoted)
		case *syntax.CmdSubst:
			return r.refuse(p.Pos(), "command substitution is not allowed"+onlyData)
		case *syntax.ArithmExp:
			return r.refuse(p.Pos(), "arithmetic is not allowed"+onlyData)
		default:
			return r.refuse(p.Pos(), "this pattern is not allowed: put the value into quotes")
		}
		if err != nil {
			return err
		}
		if out.Len() > maxExpanded {
			return r.refuse(part.Pos(), "the value is too long")
		}
	}
	return nil
}

// parameter expands $NAME, ${NAME} and ${NAME:-default}, and nothing else.
func (r *rcReader) parameter(out *strings.Builder, p *syntax.ParamExp, quoted bool) error {
	fallback := p.Exp
	plain := *p
	plain.Exp = nil
	if !isPlain(&plain) || (fallback != nil && fallback.Op != syntax.DefaultUnsetOrNull) {
		return r.refuse(p.Pos(), "only ${NAME} and ${NAME:-default} are expanded: put a plain $ into single quotes")
	}
	name := p.Param.Value
	value, set := r.vars[name]
	if set {
		r.used[name] = true
	}
	if r.tilde[name] {
		return r.refuse(p.Pos(), name+" holds a ~: "+tildeProblem)
	}
	if !set {
		value, set = r.env[name]
	}
	if fallback != nil && fallback.Word != nil {
		// Read even if it is not used: whether it is valid must not depend on the environment.
		var text strings.Builder
		warnings := r.warnings
		if err := r.expand(&text, fallback.Word.Parts, quoted); err != nil {
			return err
		}
		if value == "" {
			value = text.String()
		} else {
			r.warnings = warnings
		}
	}
	if fallback == nil && !set {
		r.warnings = append(r.warnings, warn(lineOf(r.file, int(p.Pos().Line())), "%s is not set and counts as empty",
			name))
	}
	out.WriteString(value)
	return nil
}

// isPlain is true for $NAME and ${NAME}.
func isPlain(p *syntax.ParamExp) bool {
	return p.Param != nil && syntax.ValidName(p.Param.Value) && p.Flags == nil &&
		!p.Excl && !p.Length && !p.Width && !p.IsSet && p.NestedParam == nil && p.Index == nil &&
		len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// unescape drops backslashes the way a shell does: before any character
// outside quotes, before the special ones inside double quotes.
func unescape(text string, quoted bool) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (!quoted || strings.IndexByte("$`\"\\", text[i+1]) >= 0) {
			i++
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
