package tiff

import "fmt"

// Page documents the supported recordings.
const Page = "docs/howto/recordings.md"

// Unread returns the error for an intact recording of an unsupported kind. The text names the found and the expected kind, and what to do; Unread appends Page.
func Unread(format string, values ...any) error {
	return fmt.Errorf(format+" ("+Page+")", values...)
}
