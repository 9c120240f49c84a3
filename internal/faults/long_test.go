//go:build faults

package faults

const longForm = true
