//go:build !linux

package system

// Thread does nothing: only Linux has a niceness per thread.
func Thread() {}
