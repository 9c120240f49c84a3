// Package tmuxe2e tests `ralph --monitor` as users see it: the real programs in a real
// tmux. The test's own outer tmux server is the terminal, with a size, a keyboard and a
// screen that the test can read. ralph's sessions run in an inner server.
package tmuxe2e
