//go:build !unix

package doctor

// freeBytes is not asked for here.
func freeBytes(string) (free uint64, known bool) { return 0, false }

// groupOf is nothing where files have no groups.
func groupOf(string) string { return "" }
