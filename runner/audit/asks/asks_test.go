package asks_test

import (
	"strings"
	"testing"

	"ralph/runner/audit/asks"
)

func TestForFewerTests_onlyTasksAboutTests(t *testing.T) {
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
		"Delete the latest entries": false,
		"Node 16 is no longer supported: remove src/polyfill.js and its test, engines to >=20": true,
		"Replace `small_sizes` and `large_sizes` by one test over a table":                     true,
		"Remove the old parser and the tests must pass":                                        false,
		"Remove the cache and run the tests":                                                   false,
		"Drop the flag and its tests pass again":                                               false,
	} {
		if asks.ForFewerTests(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestForPlan(t *testing.T) {
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
		if asks.ForPlan(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

func TestForOtherTests_onlyTasksAboutWhatTestsSay(t *testing.T) {
	for _, task := range []string{
		"The test \"abroad\" in test/shipping.test.js is wrong: it costs 14.90. Correct the test",
		"test_refund is outdated: the refund is -200 there. Bring the test up to date",
		"Fix Percent, and adapt its tests", "Update the golden files", "Fix the flaky test of the clock", "Delete TestOld", "Turn the tests of cart into a table",
		"Add a fixture for the clock to conftest.py", "Add the missing fixture west.json (test_all fails)", "Use jsdom, so that the page can be tested",
		"Somebody changed the usage text and forgot the golden file, please refresh it",
	} {
		if !asks.ForOtherTests(task) {
			t.Errorf("it does: %s", task)
		}
	}
	for _, task := range []string{
		"Fix Discounted: a discount code must lower the total (TestDiscounted fails)", "Fix refund: it must never be negative (tests/test_refund.py fails)",
		"Make the test \"islands cost extra\" pass (it will be added to test/shipping.test.js)", "Fix the failing tests", "Fix the broken test_median",
		"Fix shipping and add a test", "Fix shipping and write a test", "Refactor the export without changing what it writes", "Add Cart.remove(name) with a test", "Write Convert, all tests must be green",
		"The golden file of the usage fails, so fix it", "The export forgot the header; change it to write one",
	} {
		if asks.ForOtherTests(task) {
			t.Errorf("it does not: %s", task)
		}
	}
}

func TestUnwanted_onlyTestsThatTheTaskNames(t *testing.T) {
	for text, want := range map[string]string{
		"'writes rows' is flaky on CI; skip it with a link to #214":  "writes rows",
		"Skip TestUpload until the server is back":                   "TestUpload",
		"Merge `small_sizes` and `large_sizes` into one":             "small_sizes|large_sizes",
		"TestSum shows the bug; remove it":                           "",
		"`keeps commas` fails; remove the workaround that breaks it": "",
		"Fix TestParse, and remove the debug output":                 "",
		"Add Cart.remove(name) with a test":                          "",
	} {
		if got := strings.Join(asks.Unwanted(text), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestToHold(t *testing.T) {
	for text, want := range map[string]bool{
		"Add to_lines with tests; coverage must stay at 95%":             true,
		"Add the parser. Coverage may not fall below the threshold":      true,
		"Keep the coverage above 90 percent":                             true,
		"Lower the coverage threshold to 60":                             false,
		"Set up coverage":                                                false,
		"Keep the old API. Lower the coverage threshold to 60 for now":   false,
		"Measure coverage of integration tests and relax the thresholds": false,
	} {
		if asks.ToHold(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
