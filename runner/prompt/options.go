package prompt

import "ralph/state/option"

// FileOptions are the user's options for the prompt.
type FileOptions struct {
	PromptFile string // empty: Find looks for it
}

// Options returns the rows of the option table that fill o.
func (o *FileOptions) Options() []option.Row {
	return []option.Row{{
		Group: "Prompt and plan", Key: "PROMPT_FILE", Flag: "prompt", Short: "p", Arg: "FILE", YAML: "prompt.file",
		Kind: option.Path, Field: &o.PromptFile,
		Help: "Prompt file; empty means the first of .ralph/PROMPT.md, PROMPT.md, prompt.md.",
	}}
}
