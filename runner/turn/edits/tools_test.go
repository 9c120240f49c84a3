package edits

import (
	"testing"
	"time"

	"ralph/state"
)

func TestTools_couldWrite_onlyWhileOneOfThemRan(t *testing.T) {
	use := func(name string, end func(*Tools)) (tools *Tools, during time.Time) {
		tools = &Tools{}
		tools.See(state.Tool{ID: "1", Name: name})
		during = time.Now()
		end(tools)
		return tools, during
	}
	answered := func(tools *Tools) { tools.See(state.ToolResult{Tool: state.Tool{ID: "1"}}) }
	for name, c := range map[string]struct {
		tool string
		end  func(*Tools)
		want bool
	}{
		"answered": {"Bash", answered, true}, "the call ended": {"Bash", (*Tools).End, true},
		"it only looks": {"Read", answered, false}, "another one answered": {"Bash", func(tools *Tools) { tools.See(state.ToolResult{}) }, false},
	} {
		tools, during := use(c.tool, c.end)
		if got := tools.CouldWrite(during); got != c.want {
			t.Errorf("%s: could write: %t", name, got)
		}
		if tools.CouldWrite(during.Add(-time.Minute)) || tools.CouldWrite(time.Now().Add(time.Minute)) {
			t.Errorf("%s: could write long before or after", name)
		}
	}
}
