// Package demo is what a beginner sees first: a few lines that say what to do next, and a real film with its dashboard.
package demo

import (
	"io"

	"driftscope/internal/kit/console"
)

// Welcome prints the next steps for a user who typed only the program's name.
func Welcome(w io.Writer) error {
	_, err := io.WriteString(w, console.Located(welcome))
	return err
}
