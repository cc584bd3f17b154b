//go:build !race

package suite

// raced reports whether the race detector watches.
const raced = false
