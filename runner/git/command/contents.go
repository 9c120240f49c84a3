package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Contents returns the given files of a commit, without those that it does not have. A
// path that ends with a slash asks for a folder. It runs one git process, none if there
// is nothing to ask.
func Contents(ctx context.Context, root, commit string, files []string) (map[string]string, error) {
	var asked []string
	var in strings.Builder
	for _, f := range files {
		if commit != "" && !strings.Contains(f, "\n") { // the protocol cannot express such a name
			asked = append(asked, f)
			fmt.Fprintf(&in, "%s:%s\n", commit, f)
		}
	}
	found := map[string]string{}
	if len(asked) == 0 {
		return found, nil
	}
	out, err := Call{Dir: root, Stdin: in.String()}.Run(ctx, "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	for _, f := range asked {
		header, rest, _ := strings.Cut(out, "\n")
		out = rest
		fields := strings.Fields(strings.TrimPrefix(header, commit+":"+f))
		if len(fields) != 3 { // "missing"
			continue
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size+1 > len(out) {
			return nil, fmt.Errorf("read files of a commit: unknown answer %q", header)
		}
		if fields[1] == "blob" || strings.HasSuffix(f, "/") {
			found[f] = out[:size]
		}
		out = out[size+1:]
	}
	return found, nil
}
