package carrier

import (
	"strings"
	"testing"
)

func TestParse_eachSlotHasItsCarrier(t *testing.T) {
	got, err := Parse("local:1 ssh:me@build1:2,fleet:1")
	if err != nil || len(got) != 4 {
		t.Fatal(got, err)
	}
	var lines []string
	for _, c := range got {
		lines = append(lines, c.Name()+"="+strings.Join(c.Args(Way{"/hub", WorkerOptions{Fleet: "nats://a"}}), " "))
	}
	if lines[0] != "=" || lines[1] != lines[2] || !strings.HasSuffix(lines[1], "-- me@build1 ralph turn --away") ||
		lines[3] != "fleet=/hub turn --fleet nats://a" {
		t.Errorf("%q", lines)
	}
}

func TestParse_badEntry_saysWhatIsAllowed(t *testing.T) {
	for text, want := range map[string]string{
		"docker:2":            "known: local:N, ssh:HOST:N, fleet:N",
		"local:0":             "from 1 to 1024",
		"local":               "from 1 to 1024",
		"ssh:4":               "write ssh:HOST:N, such as ssh:build1:4",
		" , ":                 "known: local:N, ssh:HOST:N, fleet:N",
		"ssh:-oProxy=x:4":     "write ssh:HOST:N",
		"ssh:a:b":             "from 1 to 1024",
		"local:1000 ssh:a:25": "from 1 to 1024",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestKinds_eachForm_isNamedInErrorsAndRead(t *testing.T) {
	_, err := Parse("no such kind")
	for _, k := range kinds() {
		if err == nil || !strings.Contains(err.Error(), k.form) {
			t.Errorf("%s is not in %v", k.form, err)
		}
		all, err := Parse(strings.NewReplacer(host, "build1", "N", "2").Replace(k.form))
		if err != nil || len(all) != 2 || all[0].Kind != k.name || (all[0].Host != "") != strings.Contains(k.form, host) {
			t.Errorf("%s: %+v, %v", k.form, all, err)
		}
	}
}
