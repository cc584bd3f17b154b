// Package demo is what a beginner sees first: a few lines that say what to do next, and a real film with its dashboard.
package demo

import (
	"io"

	"driftscope/internal/kit/console"
)

// Welcome says what to do next to somebody who typed the program's name alone.
func Welcome(w io.Writer) error {
	_, err := io.WriteString(w, console.Located(welcome))
	return err
}
