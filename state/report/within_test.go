package report

import (
	"fmt"
	"strings"
	"testing"
)

func TestWithin_largeReport_saysWhatIsLeftOut(t *testing.T) {
	r := long().build()
	r.Run = "r1"
	whole, _ := r.HTML()
	if same, err := r.Within(100 << 10); err != nil || string(same) != string(whole) {
		t.Errorf("%v: a small page was changed", err)
	}
	for i := range 3000 {
		r.Tasks = append(r.Tasks, Task{Title: fmt.Sprint(i, strings.Repeat("<long> ", 100)), State: TaskDone, Iterations: []int{i}})
		r.Findings = append(r.Findings, Finding{Text: strings.Repeat("x", 500)})
	}
	data, err := r.Within(100 << 10)
	if err != nil || len(data) > 100<<10 || !strings.Contains(string(data), "ralph report r1 --html FILE has all") || !strings.Contains(string(data), "&lt;long&gt;") {
		t.Errorf("%v, %d bytes", err, len(data))
	}
	if len(r.Tasks) < 3000 || len(r.Tasks[3000].Title) < 500 {
		t.Error("the report itself was cut")
	}
}
