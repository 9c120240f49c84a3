package preflight

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/cmd/internal/cmdline"
	"ralph/internal/world"
)

func TestOfferAnalysis_agreedAhead_beginsWithTheFirstCode(t *testing.T) {
	for typed, want := range map[string]string{"y\n": "mix test", "n\n": ""} {
		dir := world.Project(t, map[string]string{"prompt.md": "p", "mix.exs": "x"})
		p := found(t, dir, nil)
		a := analysisAnswer{Test: AnalysisCommand{Command: "mix test", Reason: "there is no test yet"}}
		if err := writeAnalysis(dir, keptAnalysis{Answer: a}); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		f := &cmdline.Factory{In: world.Typed(t, typed), Out: &text, Err: &text}
		if _, err := p.Propose(f, bufio.NewReader(f.In), a); err != nil {
			t.Fatal(err)
		}
		null, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		defer null.Close()
		f.In = null
		if err := p.OfferAnalysis(f); err != nil || p.Config.TestCommand != "" {
			t.Errorf("before there is code: %q, %v", p.Config.TestCommand, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "main.ex"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		text.Reset()
		if err := p.OfferAnalysis(f); err != nil || p.Config.TestCommand != want {
			t.Errorf("%q: test command %q, %v", typed, p.Config.TestCommand, err)
		}
		p.Config.TestCommand = ""
		if _, _, err := p.BeginAgreed(f); err != nil || p.Config.TestCommand != want {
			t.Errorf("%q, in a resumed run: test command %q, %v", typed, p.Config.TestCommand, err)
		}
		if said := text.String(); strings.Contains(said, "begins, as agreed") != (want != "") || strings.Contains(said, "stays out") != (want == "") {
			t.Errorf("%q: said %s", typed, said)
		}
	}
}
