// Package faults breaks ralph on purpose: it kills, starves and misleads the
// real program and looks at what is left. docs/reliability.md says which promise
// is tested by what. The bounded form runs with all tests; the long one needs
// the build tag "faults".
package faults
