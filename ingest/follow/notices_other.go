//go:build !linux

package follow

// notices are Linux's; elsewhere folders are listed.
type notices struct{}

func openNotices(string) *notices { return nil }

func (*notices) drain(func([]byte), func()) bool { return true }

func (*notices) close() error { return nil }
