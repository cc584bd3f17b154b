package console

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// What an error of another package says it is, by its method Is: ErrFailed where it is none of the user's, though one found it in what the user gave;
// ErrUsage where it is the user's.
var (
	ErrFailed = errors.New("failed while it ran")
	ErrUsage  = errors.New("wrong usage")
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
	case errors.Is(err, ErrFailed):
		return 1
	case errors.As(err, &u), errors.Is(err, ErrUsage):
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
			fmt.Fprintln(os.Stderr, p.Name+": "+Located(line))
		}
	}
	if page := PageOf(err); page != "" {
		fmt.Fprintln(os.Stderr, p.Name+More+Located(page))
	}
}
