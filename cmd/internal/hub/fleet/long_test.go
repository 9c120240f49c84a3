//go:build faults

package fleet

const longForm = true
