//go:build !faults

package fleet

const longForm = false
