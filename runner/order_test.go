package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ralph/internal/world"
	"ralph/runner/gate"
	"ralph/runner/turn"
	"ralph/state"
)

// job is a task of a plan, and the work that it needs. Its test is green once has is in the file.
type job struct {
	title, file, text, has, test string
	// vague is true if nothing in the change says that it belongs to the task.
	vague bool
}

var jobs = []job{
	{"Fix parse_amount: it loses the cents", "money.py", "def parse_amount(s):\n    return round(float(s), 2)\n", "round", "test_parse_amount", false},
	{"The report takes too long for a large shop", "rows.py", "from functools import cache\n\n\n@cache\ndef rows(day):\n    return load(day)\n", "cache", "test_is_quick", true},
	{"Add slugify to the text tools", "text.py", "def slugify(s):\n    return s.lower().replace(' ', '-')\n", "slugify", "test_slugify", false},
	{"Describe the command line in docs/usage.md", "docs/usage.md", "# Usage\n\nshop report --day DAY\n", "DAY", "test_usage", false},
	{"Make errors readable", "main.py", "def fail(why):\n    raise SystemExit(f'shop: {why}')\n", "SystemExit", "test_exit", true},
	{"Nobody can log in after a restart", "store.py", "PATH = '/var/lib/shop/sessions'\n", "/var", "test_path", true},
}

func (j job) done() bool { return strings.Contains(read1(j.file), j.has) }

func (j job) work() { put(j.file, j.text) }

// orders are the ways in which honest agents do a plan: what one does in a call for the task at a place of all that are
// in the plan.
var orders = map[string]func(all []job, own int){
	"in order": func(all []job, own int) { all[own].work(); all[own].tick() },
	"reversed": func(all []job, own int) {
		for i := len(all) - 1; i >= 0; i-- {
			if !all[i].done() {
				all[i].work()
				all[i].tick()
				return
			}
		}
		all[own].tick()
	},
	"all at once":            func(all []job, own int) { workOn(all); tickAll(all) },
	"all, and ticks its own": func(all []job, own int) { workOn(all); all[own].tick() },
	"one ahead": func(all []job, own int) {
		for i := own; i < min(own+2, len(all)); i++ {
			all[i].work()
			all[i].tick()
		}
	},
	"one ahead, and ticks its own": func(all []job, own int) { workOn(all[own:min(own+2, len(all))]); all[own].tick() },
	"ticks in the next call": func(all []job, own int) {
		if all[own].done() {
			all[own].tick()
			own++
		}
		if own < len(all) {
			all[own].work()
		}
	},
	"ticks at the end": func(all []job, own int) {
		for i := range all {
			if !all[i].done() {
				all[i].work()
				if i < len(all)-1 {
					return
				}
			}
		}
		tickAll(all)
	},
}

func workOn(all []job) {
	for _, j := range all {
		j.work()
	}
}

func tickAll(all []job) {
	for _, j := range all {
		j.tick()
	}
}

func (j job) tick() {
	put(planName, strings.Replace(read1(planName), "- [ ] "+j.title, "- [x] "+j.title, 1))
}

var orderFakes = func() map[string]func(*fake) int {
	all := map[string]func(*fake) int{}
	for name, order := range orders {
		all[name] = func(f *fake) int {
			_, own, _ := strings.Cut(f.prompt, "## Your task\n\n")
			own, _, _ = strings.Cut(own, "\n")
			plan := read1(planName)
			var inPlan []job
			at := -1
			for _, j := range jobs {
				if !strings.Contains(plan, j.title) {
					continue
				}
				if j.title == own {
					at = len(inPlan)
				}
				inPlan = append(inPlan, j)
			}
			if at >= 0 {
				order(inPlan, at)
			}
			return f.result("ok"+block(!open1(planName), ""), nil)
		}
	}
	return all
}()

// frameworks print a test that is green or red, and the end of them all, in shell.
var frameworks = map[string]struct{ green, red, end string }{
	"tap":       {`echo "ok $n - $t"`, `echo "not ok $n - $t"`, `echo "1..$n"`},
	"go":        {`echo "--- PASS: $t (0.00s)"`, `echo "--- FAIL: $t (0.00s)"`, `test $red = 0 && echo "ok  	shop	0.1s" || echo "FAIL	shop	0.1s"`},
	"pytest":    {`echo "tests/test_shop.py::$t PASSED"`, `echo "tests/test_shop.py::$t FAILED"`, `echo "===== $red failed, $((n-red)) passed in 0.02s ====="`},
	"cargo":     {`echo "test tests::$t ... ok"`, `echo "test tests::$t ... FAILED"`, `echo "test result: . $((n-red)) passed; $red failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"`},
	"jest":      {`echo "  ✓ $t (1 ms)"`, `echo "  ✕ $t (1 ms)"`, `echo "Tests:       $red failed, $((n-red)) passed, $n total"`},
	"exit code": {":", ":", ":"},
}

// An honest agent needs no call beyond its own, except one for each task that it ticks in another turn than the one that
// did its work, if nothing in the change shows which task it was for.
func TestRun_planInAnyOrder_needsNoCallsBeyondItsOwn(t *testing.T) {
	world.Long(t, "whole runs with several calls")
	for order := range orders {
		for checks, n := range map[string]int{"": 6, "true": 4, "tap": 6, "go": 5, "pytest": 4, "cargo": 3, "jest": 3, "exit code": 5} {
			t.Run(fmt.Sprintf("%s, %d tasks, check %s", order, n, checks), func(t *testing.T) {
				t.Parallel()
				all := jobs[:n]
				b := newBench(t, order)
				plan, script := "# Plan\n\n", "n=0; red=0; "
				if err := os.Mkdir(b.dir+"/docs", 0o700); err != nil {
					t.Fatal(err)
				}
				vague := 0
				for _, j := range all {
					b.write(j.file, "# to do\n")
					plan += "- [ ] " + j.title + "\n"
					f := frameworks[checks]
					script += fmt.Sprintf("n=$((n+1)); t=%s; if grep -q '%s' %s; then %s; else red=$((red+1)); %s; fi; ", j.test, j.has, j.file, f.green, f.red)
					if j.vague {
						vague++
					}
				}
				b.d.Plan = filepath.Join(b.dir, planName)
				b.write(planName, plan)
				switch f, ok := frameworks[checks]; {
				case ok:
					b.check(script + f.end + "; test $red = 0")
					b.d.Mode = gate.ModeAuto
				case checks != "":
					b.check(checks)
					b.d.Mode = gate.ModeAuto
				}
				b.inGit()
				b.o.AntiCheat, b.o.MaxIterations = turn.AnswerRevert, 40
				r := b.run(t.Context())
				most := map[string]int{"in order": n, "all at once": 1 + vague, "ticks in the next call": n + 2}[order]
				if most == 0 {
					most = n + vague
				}
				if r.Decision.Exit != state.ExitComplete || b.calls() > most {
					t.Errorf("exit %d, %d calls, want at most %d: %s\n%s", r.Decision.Exit, b.calls(), most, b.rules(), b.said())
				}
			})
		}
	}
}
