// Package deps pins modules until their first importer exists.
package deps

import (
	_ "github.com/creack/pty"
	_ "github.com/dustin/go-humanize"
	_ "github.com/fsnotify/fsnotify"
	_ "github.com/gdamore/tcell/v2"
	_ "github.com/goccy/go-yaml"
	_ "github.com/gofrs/flock"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/renameio/v2"
	_ "github.com/hashicorp/go-hclog"
	_ "github.com/mattn/go-isatty"
	_ "github.com/rivo/tview"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/spf13/cobra"
	_ "github.com/tidwall/gjson"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "gopkg.in/natefinch/lumberjack.v2"
	_ "mvdan.cc/sh/v3/syntax"
	_ "pgregory.net/rapid"
)
