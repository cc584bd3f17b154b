package tiff

import "fmt"

// Page documents the supported recordings.
const Page = "docs/howto/recordings.md"

// Unread returns the error for an intact recording of an unsupported kind: the found and the expected kind, what to do, and the page about it.
func Unread(format string, values ...any) error {
	return fmt.Errorf(format+" ("+Page+")", values...)
}
