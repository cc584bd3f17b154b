//go:build !linux

package follow

// notices is empty, because notices are read on Linux only. On other systems folders are listed.
type notices struct{}

func openNotices(string) *notices { return nil }

func (*notices) drain(func([]byte), func()) bool { return true }

func (*notices) close() error { return nil }
