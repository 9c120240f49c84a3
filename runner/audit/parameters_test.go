package audit

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestChangedParameters_onlyWhereCallersMustChange(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"def page(items, number, size):", "def page(items, *, number, size):", "page"},
		{"def show(cents):", "def show(cents, *, currency):", "show"},
		{"def gross(net, country):", "def gross(net, country, reduced=False):", ""},
		{"def gross(net, country):", "def gross(\n    net: int,\n    land: str = \"DE\",\n):", "gross"},
		{"def total(prices):", "def total(items):", ""},
		{"def a(self, x: dict[str, int]):", "def a(self, y: list[int]):", ""},
		{"export const show = (cents, locale) => 1", "export const show = cents => 1", "show fewer"},
		{"export function page(number, size) {", "export function page({ number, size }) {", "page"},
		{"  add(a) {\n  }\n  if (a) {\n", "  add(a, b = 1) {\n  }\n  if (a, b) {\n", ""},
		{"function f(a) {}", "function g(a) {}", ""},
		{"func Greeting() string {", "func Greeting(now time.Time) string {", "Greeting"},
		{"func (c *Cart) Add(a int) {", "func (c *Cart) Add(a int, opts ...Option) {", ""},
		{"pub fn parse(s: &str) -> i64 {", "pub fn parse(s: &str) -> Option<i64> {", ""},
		{"const f = async (a, cb) => {", "const f = async (a) => {", "f fewer"},
	} {
		var got []string
		changed := changedParameters(c.before, c.after)
		for _, name := range slices.Sorted(maps.Keys(changed)) {
			if changed[name] {
				name += " fewer"
			}
			got = append(got, name)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s -> %s: %q, want %q", c.before, c.after, got, c.want)
		}
	}
}
