// Package config reads the values of options from flags, the environment, .ralphrc and
// config.yaml, and overlays them; the rows come from the packages that use the values. They drive the flags, the
// environment, .ralphrc, config.yaml, the output of `ralph config`, the
// generated documents, and the argv of an inner process.
package config

import "ralph/state/option"

// index maps every key and alias to its row.
func index(table []option.Row) map[string]option.Row {
	rows := make(map[string]option.Row, 2*len(table))
	for _, o := range table {
		rows[o.Key] = o
		for _, alias := range o.Aliases {
			rows[alias] = o
		}
	}
	return rows
}
