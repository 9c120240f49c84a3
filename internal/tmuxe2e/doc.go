// Package tmuxe2e tests `ralph --monitor` as its users meet it: the real
// programs in a real tmux. An outer tmux server of the test's own is the
// terminal, with a size, a keyboard and a screen that can be read; ralph's
// sessions live in an inner one.
package tmuxe2e
