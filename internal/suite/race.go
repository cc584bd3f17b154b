//go:build race

package suite

// raced says whether the race detector watches.
const raced = true
