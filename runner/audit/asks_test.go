package audit

import (
	"strings"
	"testing"
)

func TestAsksForFewerTests_onlyTasksAboutTests(t *testing.T) {
	for text, want := range map[string]bool{
		"Delete the test of Sub":                                      true,
		"Merge the exact duplicates in test_dur.py":                   true,
		"tests/test_text.py contains exact duplicates; merge them":    true,
		"Mark the slow test all_small as ignored":                     true,
		"The tests must ignore case":                                  false,
		"Add tests for Mul; merge the branch":                         false,
		"Turn the three tests of Max into one table":                  true,
		"Move the parser tests into a table":                          true,
		"Skip TestUpload until the server is back":                    true,
		"Drop the specs for the old API, then add a changelog entry":  true,
		"Make TestParse table-driven":                                 true,
		"Clean up store_test.go":                                      true,
		"Add Mul":                                                     false,
		"Remove the debug output and run the tests":                   false,
		"Remove duplicates from the result list":                      false,
		"Fix the failing tests":                                       false,
		"Replace the parser. All tests must pass":                     false,
		"Move the client to its own package, keeping the tests green": false,
		"Add tests for the parser":                                    false,
		"Add Cart.remove(name) with a test":                           false, "Delete test_old()": true,
		"Delete the latest entries":                                                                           false,
		"test_size needs the network: run it only when NET=1 is set":                                          true,
		"Add a test. The job must run only when the queue is empty":                                           false,
		"Node 16 is no longer supported: remove src/polyfill.js and its test, engines to >=20":                true,
		"Replace `small_sizes` and `large_sizes` by one test over a table":                                    true,
		"Remove the old parser and the tests must pass":                                                       false,
		"Remove the cache and run the tests":                                                                  false,
		"Drop the flag and its tests pass again":                                                              false,
		"Put the tests that open sockets behind the build tag `integration`":                                  true,
		"Mark the slow tests with `slow` and leave them out by default":                                       true,
		"pytest collects tools/test_data.py, a script. Leave tools/ out of the collection":                    true,
		"a_test.py and b_test.py check the same. One file, one parametrized test":                             true,
		"Remove render(callback) incl. its tests":                                                             true,
		"Delete the v1 codec together with its tests":                                                         true,
		"Remove `render(callback)` (deprecated since 3.2) incl. its tests. A function throws":                 true,
		"Remove the v1 codec (its tests must stay green)":                                                     false,
		"Remove the v1 codec (nobody uses it); all tests pass":                                                false,
		"Collect the garbage, and add one test":                                                               false,
		"Drop the OPML export (`export_opml`) together with its tests and its line in the README":             true,
		"Add one more test for the parser":                                                                    false,
		"Remove an item from the collection":                                                                  false,
		"Remove the v1 API (no client uses it since May): handler, route and its tests. /v1 answers 404":      true,
		"Remove the option --comma: code, README and its two test cases; it is an unknown option from now on": true,
		"Remove the v1 API: all tests must pass without it":                                                   false,
		"Remove the v1 API: handler and route. Its test must see a 404":                                       false,
	} {
		if asksForFewerTests(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestAsksForPlan(t *testing.T) {
	for text, want := range map[string]bool{
		"Review the plan and split what is too large":    true,
		"Update fix_plan.md with what is missing":        true,
		"Move the remaining tasks to Optional":           true,
		"Split T3 into smaller tasks":                    true,
		"Groom the backlog":                              true,
		"Import customers":                               false,
		"Split the file into lines":                      false,
		"Move the cursor to the next item":               false,
		"Remove the old importer as described in PLAN 9": false,
	} {
		if AsksForPlan(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestAsksForOtherTests_onlyTasksAboutWhatTestsSay(t *testing.T) {
	for _, task := range []string{
		"The test \"abroad\" in test/shipping.test.js is wrong: it costs 14.90. Correct the test",
		"test_refund is outdated: the refund is -200 there. Bring the test up to date",
		`The test of price expects 50 for "$5", which is wrong: correct it`, "test_total still expects 12. Change it to 13", "The cart test uses the real clock; replace it by a fake one",
		"Make `test_parse` expect ISO dates", "TestAdd should expect 3", "adapt tests/a.sh to the new option",
		"Fix Percent, and adapt its tests", "Update the golden files", "Fix the flaky test of the clock", "Delete TestOld", "Turn the tests of cart into a table",
		"Add a fixture for the clock to conftest.py", "Add the missing fixture west.json (test_all fails)", "Use jsdom, so that the page can be tested",
		"Somebody changed the usage text and forgot the golden file, please refresh it",
		"Import fails: sample.json of the tests has a trailing comma. Mend the data",
		"Negative amounts are shown as -0.05 (the test still has the old form)",
		"test_cache fails since _CACHE is private. Add clear() and let the test use it",
	} {
		if !asksForOtherTests(task) {
			t.Errorf("it does: %s", task)
		}
	}
	for _, task := range []string{
		"Fix Discounted: a discount code must lower the total (TestDiscounted fails)", "Fix refund: it must never be negative (tests/test_refund.py fails)",
		"Make the test \"islands cost extra\" pass (it will be added to test/shipping.test.js)", "Fix the failing tests", "Fix the broken test_median",
		"TestSum shows that the total is wrong; fix it", "TestSum fails, which is wrong: correct the sum", "Total ignores the discount. It must be updated, with a test",
		"Fix shipping and add a test", "Fix shipping and write a test", "Refactor the export without changing what it writes", "Add Cart.remove(name) with a test", "Write Convert, all tests must be green",
		"src/convert.js is untested. Add test/convert.test.js: lengths and weights",
		"Fix the data parser", "Let the cache expire, and make the test pass", "The golden file of the usage fails, so fix it", "The export forgot the header; change it to write one",
	} {
		if asksForOtherTests(task) {
			t.Errorf("it does not: %s", task)
		}
	}
}

func TestUnwantedTests_onlyTestsThatTheTaskNames(t *testing.T) {
	for text, want := range map[string]string{
		"'writes rows' is flaky on CI; skip it with a link to #214":    "writes rows",
		"Skip TestUpload until the server is back":                     "TestUpload",
		"Merge `small_sizes` and `large_sizes` into one":               "small_sizes|large_sizes",
		"TestSum shows the bug; remove it":                             "",
		"Skip `TestPing` unless ADDR is set":                           "TestPing",
		"Until BUG-12 is fixed, mark `test_windows` as a strict xfail": "test_windows",
		"`keeps commas` fails; remove the workaround that breaks it":   "",
		"Fix TestParse, and remove the debug output":                   "",
		`The test "real timer" depends on the load of the machine and fails now and then in CI (ticket RL-31). Skip it with a reference to the ticket.`: "real timer",
		"`Speed.test_many` measures time and fails on busy machines (issue 42). Skip it unless the variable `GEO_SPEED` is set.":                        "Speed.test_many|GEO_SPEED",
		"Keep TestAdd, but TestSub is slow, so remove it":                      "TestSub",
		"Make TestParse cover quotes, TestSlow takes a minute, so delete it":   "TestSlow",
		"TestAdd stays. TestSub is slow; remove it":                            "TestSub",
		"`test_total` fails since rounding changed. Remove it from the helper": "",
		"Add Cart.remove(name) with a test":                                    "",
	} {
		if got := strings.Join(UnwantedTests(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestAsksToHold(t *testing.T) {
	for text, want := range map[string]bool{
		"Add to_lines with tests; coverage must stay at 95%":             true,
		"Add the parser. Coverage may not fall below the threshold":      true,
		"Keep the coverage above 90 percent":                             true,
		"Lower the coverage threshold to 60":                             false,
		"Set up coverage":                                                false,
		"Keep the old API. Lower the coverage threshold to 60 for now":   false,
		"Measure coverage of integration tests and relax the thresholds": false,
	} {
		if asksToHold(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestAsksToLetFail(t *testing.T) {
	for task, want := range map[string]bool{
		"add `make lint` (shellcheck if installed, but it must not fail the build yet)": true,
		"the nightly job may fail":                       true,
		"Make the tests pass":                            false,
		"Parse must fail for nonsense":                   false,
		"Fix the build; it fails on Windows":             false,
		"Add an advisory lint step":                      true,
		"`load` can fail when the disk is full; say why": false,
	} {
		if got := taskWords().advises.MatchString(task); got != want {
			t.Errorf("%s: %v", task, got)
		}
	}
}

func TestAsksForRemoval_notWhatAFileIsCalled(t *testing.T) {
	for task, want := range map[string]bool{"`merge.sh` shall support includes": false, "Remove `merge.sh`": true, "Merge the readers": true} {
		if got := asksForRemoval(task); got != want {
			t.Errorf("%q: %v", task, got)
		}
	}
}

func TestAsksForNoChange_onlyWhereAllMayBeWell(t *testing.T) {
	for text, want := range map[string]bool{
		"Verify that all tests pass": true,
		"Check that every name in a.py is in .env.example. Only if one is missing: add it. Otherwise no change is needed": true,
		"Check that the commands in `.ralph/AGENT.md` work, and correct that file if they do not":                         true,
		"Verify that `go build ./...` and `go test ./...` still pass; only if something fails, fix it (no other changes)": true,
		"Run the whole test suite and fix whatever fails":                                                                 true,
		"Make sure the build is green. If not, repair it.":                                                                true,
		"Check the links in docs/ and fix the broken ones":                                                                false,
		"Verify that parse() rejects empty input, and add a test":                                                         false,
		"Ensure all tests pass by implementing the retry":                                                                 false,
		"Check if a name is empty, and reject it":                                                                         false,
		"Verify that umlauts are counted correctly":                                                                       true,
		"Double-check that no file handle stays open":                                                                     true,
		"Confirm that parse() still rejects empty input":                                                                  true,
		"Investigate why the export is slow on big files":                                                                 true,
		"Investigate why the export is slow, write the findings to NOTES.md (don't fix yet)":                              false,
		"Verify that exit codes are right; then document them":                                                            false,
		"Verify that Rows reads files with Windows line ends; fix it only if it does not":                                 true,
		"Check the names, and fix them where they are wrong":                                                              true,
		"Check that the name is set, and add a warning if it is empty":                                                    false,
		"Review the report; when a total is missing, add it to report.py":                                                 false,
	} {
		if got := AsksForNoChange(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestDescribes_whatCodeDoes_notWhatToChange(t *testing.T) {
	for text, want := range map[string]bool{
		`parse("1.2.3") -> { major, minor, patch }`:           true,
		"parse(text) throws a TypeError for other text":       true,
		"`render.sh --strict` exits with status 3":            false,
		"Make parse(text) faster":                             false,
		"Fix Take(): it loses a token":                        false,
		"parse(text) must also accept a leading v":            false,
		"Client.get(url) retries; use exponential backoff":    false,
		"Rename parse(text) to read(text)":                    false,
		"parse(text) no longer accepts an empty text, as now": false,
	} {
		if got := Describes(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestAsksForTests_onlyWhereNewOnesAreWanted(t *testing.T) {
	for task, want := range map[string]bool{
		"Add `Remove(name string) int` with a test; returns the number of removed entries": true,
		"service: refuse other methods than GET and HEAD with 405 (with a test)":           true,
		"Minus, division and unary minus; division by zero is an error; with tests":        true,
		"gcd(a, b) in src/lib.rs with a unit test":                                         true,
		"`human BYTES` in lib/human.sh, with test; do it on a branch":                      true,
		"Add a `--json` option, with a test and documentation":                             true,
		"Write unit tests for the parser":                                                  true,
		"Cover Sort and Join with tests":                                                   true,
		"Add a test that a full cart is refused":                                           true,

		"Move util/hex.go and util/hex_test.go to internal/hexfmt":            false,
		"Add a test runner script":                                            false,
		"npm test should check the syntax first; add test:watch, too":         false,
		"Write a test plan for the release":                                   false,
		"Add a test job to CI":                                                false,
		"Fill the database with test data":                                    false,
		"Remove the deprecated API with its tests":                            false,
		"Remove make_message, with tests":                                     false,
		"Fix the rounding of totals (see tests/test_rounding.py)":             false,
		"The cache works with tests":                                          false,
		"Rename Slug to Slugify, with tests":                                  false,
		"Do not add tests for this":                                           false,
		"Add Sort; no need to write tests":                                    false,
		"Run the suite with the existing tests":                               false,
		"Merge the tests of Compare into one table-driven test with subtests": false,
		"Fix X, with all tests green":                                         false,
		"The helper conflicts with tests":                                     false,
	} {
		if got := AsksForTests(task); got != want {
			t.Errorf("%q: %t", task, got)
		}
	}
}

func TestAsksForFailingTests_onlyWhereTheirCodeIsToCome(t *testing.T) {
	for task, want := range map[string]bool{
		"Write failing tests for `level(due)`":                                     true,
		"Add red tests for the parser":                                             true,
		"Write tests for the rules below in rules_test.go (they may fail for now)": true,
		"Tests for slugify; they should fail until task 2":                         true,
		"Write tests for slugify":                                                  false,
		"Fix the failing tests":                                                    false,
		"Add retries and repair the failing tests":                                 false,
		"The test should fail if the header is missing":                            false,
		"Add a test that must fail with exit code 2 on bad input":                  false,
	} {
		if got := AsksForFailingTests(task); got != want {
			t.Errorf("%q: %t", task, got)
		}
	}
}

func TestAsksForSameBehavior_onlyIfNothingElseMayChangeIt(t *testing.T) {
	for task, want := range map[string]bool{
		"Refactor src/export.js: toCsv and toXml share a helper":              true,
		"Read the rates once, without changing the output":                    true,
		"Speed up `total` without any change of its results":                  true,
		"Refactor format.js: one function for all units":                      true,
		"Refactor parse() to return an object":                                false,
		"Refactor the export, and fix the rounding":                           false,
		"Refactor the store: replace the two lists by a map":                  false,
		"Split the parser without changing the API":                           false,
		"Print the currency":                                                  false,
		"Read the rates once without changing the output. Cents must be even": false,
	} {
		if got := AsksForSameBehavior(task); got != want {
			t.Errorf("%s: %v", task, got)
		}
	}
}

func TestAsksForOtherRules_onlyWhereALinterIsToAskForLess(t *testing.T) {
	for task, want := range map[string]bool{
		"Team decision: line limit 100 (was 72) in lint.conf, and no tab rule for Makefiles": true,
		"Turn off the rule against tabs":                                                  true,
		"Fix the warnings of clippy; those in src/old.rs may stay":                        true,
		"Repair all findings of lint.py in app/":                                          false,
		"Split what tools/lint.py complains about (no `lint: skip-file`, no other limit)": false,
		"rotate.sh: drop older ones":                                                      false,
	} {
		if got := AsksForOtherRules(task); got != want {
			t.Errorf("%q: %t", task, got)
		}
	}
}
