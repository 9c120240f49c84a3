package asks

import "testing"

func TestOnlyAdds(t *testing.T) {
	for task, want := range map[string]bool{
		"table.sortBy: add an option { desc: true }":                                true,
		`Invoice: add FormatTotal that shows the total with currency ("CHF 12.30")`: true,
		"Add `half`": true,
		"Add daily_range(data): max minus min per day":                  true,
		"Add a --json flag to the list command":                         true,
		"Add a column with the status to the report":                    false,
		"Add an option --json and make it the default":                  false,
		"Add a limit parameter; requests without it now return 50 rows": false,
		"Add validation to parse_age":                                   false,
		"ParseDuration: support days":                                   false,
		"Add `reason(code)` and put it into the status line":            false,
		"Add `max_entries` to `Cache`: evict the least recently used entry (reads count as use). Default: no limit": true,
		"Add `max_entries` to `Cache`. Default: 100":                                                                false,
		"Fix total":                  false,
		"Add rounding to Cart.total": false,
	} {
		if got := OnlyAdds(task); got != want {
			t.Errorf("%q: %v", task, got)
		}
	}
	for _, task := range []string{
		`ParseDuration: support days ("2d", "1d12h"), keep everything else as it is`,
		"Add coupons. Orders without a coupon must cost what they cost today.",
		"Parse over the borrowed &str, without copying. Behaviour including error positions stays as it is.",
		"Support a discount per line. Invoices without discounts must come out as before.",
		"`Acquire` scans the whole range. Make it O(log n) or better, keeping the order of the README.",
		"Make it configurable; without a setting it behaves as today",
	} {
		if !ToKeepBehavior(task) {
			t.Error(task)
		}
	}
}

func TestForRemoval_notWhatAFileIsCalled(t *testing.T) {
	for task, want := range map[string]bool{"`merge.sh` shall support includes": false, "Remove `merge.sh`": true, "Merge the readers": true} {
		if got := ForRemoval(task); got != want {
			t.Errorf("%q: %v", task, got)
		}
	}
}
