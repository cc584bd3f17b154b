package tiff

import "fmt"

// Page is where a person finds which recordings are read.
const Page = "docs/howto/recordings.md"

// Unread is the error of a recording that is whole and of a kind that is not read: what was found, what was expected and what to do, and the page behind it.
func Unread(format string, values ...any) error {
	return fmt.Errorf(format+" ("+Page+")", values...)
}
