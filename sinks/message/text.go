package message

import (
	"strings"
	"unicode"
)

// Printable replaces what would steer a terminal by spaces: the text of a message may come from anybody.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
