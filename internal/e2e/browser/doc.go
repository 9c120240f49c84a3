// Package browser tests the dashboard in a real browser. Its tests need the build tag e2e,
// since the driver of the browser takes long to compile.
package browser
