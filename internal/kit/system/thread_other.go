//go:build !linux

package system

// Thread does nothing here: threads have a niceness of their own on Linux alone.
func Thread() {}
