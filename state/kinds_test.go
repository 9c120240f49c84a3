package state_test

import (
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ralph/state"
)

func TestKinds_haveARowForEachConstant(t *testing.T) {
	source, err := os.ReadFile("payload.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []state.Kind
	for _, m := range regexp.MustCompile(`Kind\w+ +Kind = "(\w+)"`).FindAllSubmatch(source, -1) {
		want = append(want, state.Kind(m[1]))
	}
	for _, row := range state.Kinds() {
		got = append(got, row.Kind)
		if kind := state.NewEvent(state.Origin{}, time.Time{}, row.Payload).Kind; kind != row.Kind {
			t.Errorf("the row %q has the payload of %q", row.Kind, kind)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
