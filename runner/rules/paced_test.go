package rules

import (
	"ralph/state"
	"testing"
	"time"
)

func TestAdmit_paceBeyondWhatARunWaits_stops(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"more than a day":  func(f *scene) { f.Paced.Until = noon.Add(25 * time.Hour) },
		"ON_LIMIT=stop":    func(f *scene) { f.Policy.OnLimit = "stop" },
		"the run's time":   func(f *scene) { f.Policy.MaxDuration = 90 * time.Minute },
		"UNTIL is earlier": func(f *scene) { f.End = noon.Add(30 * time.Minute) },
	} {
		f := usual()
		f.Starting, f.Paced.Until = true, noon.Add(time.Hour)
		if d := f.decide(); d.Rule != state.RulePace || d.Action != state.ActionWait {
			t.Fatalf("%+v", d)
		}
		change(&f)
		if d := f.decide(); d.Rule != state.RulePace || d.Action != state.ActionStop || d.Exit != state.ExitLimited || d.Next == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}
