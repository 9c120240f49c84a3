//go:build !linux

package confine

import "errors"

// Version returns 0: only Linux has Landlock.
func Version() int { return 0 }

func (l *Limits) apply() error { return errors.ErrUnsupported }
