package rules

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ralph/state"
)

func TestDecide_eachCase_doesWhatItsRowSays(t *testing.T) {
	rows := CaseRules()
	if len(rows) != int(CaseError)+1 {
		t.Fatalf("%d rows for %d cases", len(rows), int(CaseError)+1)
	}
	for i, row := range rows {
		d := DecideCase(Case(i), "because")
		if row.Name == "" || row.When == "" || d.Rule != row.Name || d.Reason != "because" {
			t.Errorf("case %d: row %+v decides %+v", i, row, d)
		}
		if stops := strings.Contains(row.Then, "stop"); stops != (d.Action == state.ActionStop) || stops && row.Then != fmt.Sprintf("stop %d", d.Exit) {
			t.Errorf("%q is said to %q, and it does %s with exit code %d", row.Name, row.Then, d.Action, d.Exit)
		}
		if stops := d.Action == state.ActionStop; stops != (d.Status != "") || stops != (d.ExitReason != "") || stops != (d.Next != "") {
			t.Errorf("a stop without status, exit reason or advice, or one that is none: %+v", d)
		}
		if waits := strings.HasPrefix(row.Then, "wait"); waits != (d.Action == state.ActionWait) {
			t.Errorf("%q is said to %q, and it does %s", row.Name, row.Then, d.Action)
		}
	}
}

func TestFailed_otherRunIsActive_hasAnExitCodeOfItsOwn(t *testing.T) {
	if d := DecideError(fmt.Errorf("open state: %w", &state.LockedError{})); d.Rule != "error" || d.Exit != state.ExitLocked {
		t.Errorf("%+v", d)
	}
	if d := DecideCase(CaseUnfit, "the fleet cannot be used"); d.Rule != "error" || d.Exit != state.ExitUsage || d.Reason != "the fleet cannot be used" {
		t.Errorf("%+v", d)
	}
	if d := DecideError(errors.New("disk full")); d.Rule != "error" || d.Exit != state.ExitError || d.Reason != "disk full" {
		t.Errorf("%+v", d)
	}
}
