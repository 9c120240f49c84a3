// Package browser looks at the dashboard in a real browser, as its users do. Its tests need the
// build tag e2e: what drives the browser takes long to compile.
package browser
