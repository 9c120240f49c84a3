package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"ralph/config"
)

// optionFlag collects the raw text of one option's flag. Reading and checking
// it is the loader's work, as for every other source.
type optionFlag struct {
	row    config.Option
	values map[string]string
	fixed  string      // what the flag means when it takes no value: --no-continue
	other  *optionFlag // the opposite; nil: none
	given  bool
}

func (f *optionFlag) String() string { return "" }

func (f *optionFlag) Set(text string) error {
	if f.fixed != "" && text == "true" {
		text = f.fixed
	}
	if f.other != nil && f.other.given {
		return usageError("--%s and --%s exclude each other", f.row.Flag, f.row.NoFlag)
	}
	f.values[f.row.Key], f.given = text, true
	return nil
}

// Type is what help shows for the value.
func (f *optionFlag) Type() string {
	if f.row.Kind == config.KindBool {
		return "bool"
	}
	return f.row.Arg
}

// IsBoolFlag lets pflag accept the flag without a value.
func (f *optionFlag) IsBoolFlag() bool { return f.row.Kind == config.KindBool }

// addOptions adds a flag for every row of the table that has one.
func addOptions(fs *pflag.FlagSet, values map[string]string) {
	for _, o := range config.Table() {
		if o.Flag == "" {
			continue
		}
		help := o.Help
		if o.Default != "" && o.Kind != config.KindBool {
			help += fmt.Sprintf(" (default %s)", shorten(o.Default))
		}
		f := &optionFlag{row: o, values: values}
		fs.VarPF(f, o.Flag, o.Short, help).NoOptDefVal = boolValue(o)
		if o.NoFlag != "" {
			f.other = &optionFlag{row: o, values: values, fixed: "false", other: f}
			fs.VarPF(f.other, o.NoFlag, "", "the opposite of --"+o.Flag).NoOptDefVal = boolValue(o)
		}
	}
	fs.SortFlags = false
}

func boolValue(o config.Option) string {
	if o.Kind == config.KindBool {
		return "true"
	}
	return ""
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 60 {
		return strings.TrimSpace(string(r[:57])) + "..."
	}
	return s
}
