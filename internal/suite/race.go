//go:build race

package suite

// raced reports whether the race detector is on.
const raced = true
