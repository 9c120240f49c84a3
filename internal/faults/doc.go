// Package faults breaks ralph on purpose: it kills, starves and misleads the
// real program and looks at what is left. docs/reliability.md lists what
// it promises. The bounded form runs with all tests; the long one needs
// the build tag "faults".
package faults
