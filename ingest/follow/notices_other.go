//go:build !linux

package follow

// notices exist on Linux only; elsewhere folders are listed.
type notices struct{}

func openNotices(string) *notices { return nil }

func (*notices) drain(func([]byte), func()) bool { return true }

func (*notices) close() error { return nil }
