// Package demo is a beginner's first contact: a few lines that suggest the next step, and a real film with its dashboard.
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
