package message

import (
	"strings"
	"unicode"
)

// Printable replaces characters that control a terminal by spaces, because the sender of a text may be anyone.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
