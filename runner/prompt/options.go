package prompt

import "ralph/config/option"

// FileOptions are the options about the prompt.
type FileOptions struct {
	PromptFile string // empty: .ralph/PROMPT.md, PROMPT.md or prompt.md
}

// Options returns the rows of the option table that fill o.
func (o *FileOptions) Options() []option.Row {
	return []option.Row{{
		Group: "Prompt and plan", Key: "PROMPT_FILE", Flag: "prompt", Short: "p", Arg: "FILE", YAML: "prompt.file",
		Kind: option.Path, Field: &o.PromptFile,
		Help: "The prompt; empty is the first of .ralph/PROMPT.md, PROMPT.md, prompt.md.",
	}}
}
