//go:build !linux

package nice

func leastRealTime(int) {}
