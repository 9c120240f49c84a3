// Package e2e runs the built ralph with real agent CLIs against a mock of their model
// APIs. It needs no account, and the network only once, to install the CLIs. It looks
// for processes left behind in /proc, so it runs on Linux only.
//
//	make e2e                    or  go test -count=1 -tags e2e ./internal/e2e
//	RALPH_REQUIRE=all make e2e  fails where a CLI cannot be installed, in place of skipping
package e2e
