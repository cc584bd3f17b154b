// Package demo helps beginners: it prints a few lines that suggest the next step, and tracks a real film with a dashboard.
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
