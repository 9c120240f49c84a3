package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

func TestInit_json_asksNothingAndPrintsOnlyTheResult(t *testing.T) {
	w := newInitWorld(t, goProject())
	var out bytes.Buffer
	w.Out = &out
	o := initOptions{json: true}
	o.Factory = w.Factory
	if err := o.reported(initRun); err != nil {
		t.Fatal(err)
	}
	var got written
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Project != w.Dir || got.Test != "go test ./..." ||
		!slices.Contains(got.Wrote, ".ralphrc") || !slices.Contains(got.Next, "ralph -C "+w.Dir+" doctor") {
		t.Errorf("%s, %v", out.String(), err)
	}
}
