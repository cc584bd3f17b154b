//go:build !linux

package system

func leastRealTime(int) {}
