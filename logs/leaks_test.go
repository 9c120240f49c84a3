package logs

import (
	"bytes"
	"encoding/json"
	"testing"

	"ralph/internal/leaks"
)

func TestRedact_madeUpSecrets_noneIsShown(t *testing.T) {
	escaped := func(text string) string {
		data, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	shown, all := 0, 0
	for _, s := range leaks.Shapes() {
		if s.Ambiguous {
			continue
		}
		all++
		got := Redact(s.Text)
		if part := s.Leaked(got); part != "" {
			shown++
			t.Errorf("%s: %q is shown in %q", s.Name, part, got)
			continue
		}
		if words := s.Lost(got); words != "" {
			t.Errorf("%s: %q is lost in %q from %q", s.Name, words, got, s.Text)
		}
		if s.Leaked(Redact(escaped(s.Text))) != "" || s.Leaked(Redact(escaped(escaped(s.Text)))) != "" {
			t.Errorf("%s: shown in JSON: %s\n%s", s.Name, Redact(escaped(s.Text)), Redact(escaped(escaped(s.Text))))
		}
		for at := range len(s.Text) {
			var out bytes.Buffer
			r := NewRedactor(&out, Values{})
			_, _ = r.Write([]byte(s.Text[:at]))
			_, _ = r.Write([]byte(s.Text[at:] + "\n"))
			if part := s.Leaked(out.String()); part != "" {
				t.Errorf("%s: split at %d: %q", s.Name, at, out.String())
				break
			}
		}
	}
	t.Logf("%d of %d shapes are shown", shown, all)
}
