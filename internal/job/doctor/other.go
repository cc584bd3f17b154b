//go:build !unix

package doctor

// freeBytes is unknown on this system.
func freeBytes(string) (free uint64, known bool) { return 0, false }

// groupOf returns nothing if files have no groups.
func groupOf(string) string { return "" }
