package gate

import "testing"

func TestOwn_testOfTheTask_byItsTextOrByTheTurn(t *testing.T) {
	in := func(file, name string) Own { return Own{Task: "1", Text: "Fix it", Tests: []TestAt{{file, name}}} }
	for _, c := range []struct {
		own  Own
		test string
		want bool
	}{
		{Own{}, "x.TestAdd", false},
		{Own{Text: "Make TestAdd pass."}, "example.com/x.TestAdd", true},
		{Own{Text: "Make TestAdd pass."}, "example.com/x.TestAdd/zero_and_one", true},
		{Own{Text: "Make TestAdd pass."}, "example.com/x.TestAddAll", false},
		{Own{Text: "Fix Add"}, "x.TestAdd", false}, // it may be about something else
		{Own{Text: "Fix `adds`"}, "a.test.js > sums > adds", true},
		{Own{Text: "It adds too slowly"}, "a.test.js > sums > adds", false},
		{Own{Text: "The test 'adds two numbers' is red"}, "a.test.js > sums > adds two numbers", true},
		{Own{Text: "tests/test_a.py::test_b[a - 1] fails"}, "tests/test_a.py::test_b[a - 1]", true},
		{Own{Text: "test_price is red: see test_median"}, "tests/test_a.py::test_price", true},
		// Code that the task names may be all that a group of tests is about.
		{Own{Text: "Add `slugify`"}, "a.test.js > slugify > keeps umlauts", false},
		{Own{Text: "Add `slugify`"}, "slugify > keeps umlauts", false},
		{Own{Text: "Fix parseAmount"}, "a.test.ts > parseAmount > cents", false},
		{Own{Text: "Add `parser`"}, "cc::parser::tests::keeps_spaces", false},
		{Own{Text: "Add `Cart`"}, "com.example.Cart.total", false},
		{Own{Text: "Add `CartTotals`"}, "com.example.CartTotals.rounds", false},
		{Own{Text: "Add total, see test_cart.py"}, "test_cart.T.test_drop", false},
		{Own{Text: "Add total, see tests/test_cart.py"}, "tests/test_cart.py::test_drop", false},
		{Own{Text: "Add total, see tests/test_cart.py"}, "tests/test_cart.py", false},
		{Own{Text: "Add total to cart_test.go"}, "example.com/cart", false},
		// The name of a test that is a group.
		{Own{Text: "Make TestCart pass"}, "tests/test_cart.py::TestCart::test_drop", true},
		{Own{Text: "Make TestCart pass"}, "test_cart.TestCart.test_drop", true},
		{Own{Text: "Make CartTest pass."}, "com.example.CartTest.drop", true},
		{Own{Text: "Make CartTest pass", Others: "CartTest has no case for drop"}, "com.example.CartTest.drop", false},
		{Own{Text: "Make TestCart pass", Others: "test_drop is slow"}, "test_cart.TestCart.test_drop", false},
		{Own{Text: "Make CartTest.total pass"}, "com.example.CartTest.drop", false},
		{Own{Text: "TestCart.test_total is red"}, "test_cart.TestCart.test_drop", false},
		{Own{Text: "TestCart::test_total is red"}, "t.py::TestCart::test_total", true},
		{Own{Text: "Make TestParse/empty pass"}, "example.com/x.TestParse/empty", true},
		{Own{Text: "Make TestParse/empty pass"}, "example.com/x.TestParse/nested", false},
		{Own{Text: "Make TestParse/empty pass"}, "example.com/x.TestParse/empty_list", false},
		{Own{Text: "test_price is red", Others: "keep test_price short"}, "tests/test_a.py::test_price[1]", true},
		{in("x_test.go", "TestAdd"), "example.com/x.TestAdd", true},
		{in("x_test.go", "TestAdd"), "example.com/x.TestMul", false},
		{in("calc/x_test.go", "TestAdd"), "example.com/web.TestAdd", false},
		{in("tests/test_a.py", "test_b"), "tests/test_a.py::TestC::test_b[x - 1]", true},
		{in("tests/test_a.py", "test_b"), "tests/test_z.py::test_b", false},
		{in("web/src/a.test.ts", "adds two"), "src/a.test.ts > sums > adds two", true},
		{in("web/src/a.test.ts", "adds"), "src/a.test.ts > sums > adds two", false},
		{in("test_a.py", "test_b"), "test_a.T.test_b (i='a: b')", true},
		{in("src/lib.rs", "adds"), "cc::tests::adds", true},
		{in("sums.bats", "adds two"), "adds two", true},
	} {
		if got := c.own.has(c.test); got != c.want {
			t.Errorf("%+v has %q: %v", c.own, c.test, got)
		}
	}
}
