// Package exit tells the user's mistakes from what failed while it ran: by that the program's exit status follows from an error.
package exit

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"driftscope/infer"
	"driftscope/internal/bus"
	"driftscope/internal/pages"
)

// usageError marks an error as the user's: a wrong flag or configuration, found before anything ran.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage marks err as the user's; nil stays nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// Status is what the process returns for err.
func Status(err error) int {
	var u usageError
	switch {
	case err == nil:
		return 0
	case errors.Is(err, infer.ErrGraph): // a file that would have ended the process had it been trusted
		return 1
	case errors.As(err, &u), errors.Is(err, bus.ErrOptions):
		return 2
	}
	return 1
}

// More is in the line that names a page, behind the program's name.
const More = ": more in "

// Report prints err on standard error, one line a problem, and last the page that says more; pages are where the reader finds them.
func (p *Program) Report(err error) {
	if err == nil {
		return
	}
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintln(os.Stderr, p.Name+": "+pages.Located(line))
		}
	}
	if page := pages.Of(err); page != "" {
		fmt.Fprintln(os.Stderr, p.Name+More+pages.Located(page))
	}
}
