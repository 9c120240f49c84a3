package agent

import (
	"fmt"
	"slices"
	"strings"

	"ralph/logs/termtext"
)

// EnvRelease says how to let the agent have a variable that was withheld: the ones that its error
// names, or the only one.
func EnvRelease(held []string, said string) string {
	named := slices.DeleteFunc(slices.Clone(held),
		func(name string) bool { return len(held) > 1 && !strings.Contains(said, name) })
	if len(named) == 0 {
		return fmt.Sprintf("ralph withheld %s from it; let the one that it needs pass, such as ENV_EXCLUDE='!%s'",
			termtext.Some(held, 5), held[0])
	}
	return fmt.Sprintf("ralph withheld %s from it; let it pass with ENV_EXCLUDE='!%s'", termtext.Some(named, 5),
		strings.Join(named, ",!"))
}
