package config

import (
	"testing"

	"ralph/runner/hooks"
	"ralph/runner/roles"
)

func TestSameBut_anotherHookOrJudge_isNotTheSame(t *testing.T) {
	row := agentRow{}
	row.spec.Name = "new"
	rows := func(command, judge string) []setting {
		return []setting{{hook: &hookRow{hook: hooks.Hook{Command: command}}}, {judge: &judgeRow{judge: roles.Reviewer{Name: judge}}}}
	}
	added := func(all []setting) []setting { return append(all, setting{agent: &row}) }
	for _, c := range []struct {
		now  []setting
		same bool
	}{{added(rows("make", "A")), true}, {added(rows("true", "A")), false}, {added(rows("make", "B")), false}} {
		if got := sameBut(rows("make", "A"), c.now, row); got != c.same {
			t.Errorf("%+v: the same: %t", c.now, got)
		}
	}
}
