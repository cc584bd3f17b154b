//go:build !unix

package doctor

// freeBytes is unknown on this system.
func freeBytes(string) (free uint64, known bool) { return 0, false }

// groupOf returns "": files have no groups on this system.
func groupOf(string) string { return "" }
