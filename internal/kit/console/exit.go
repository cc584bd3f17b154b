package console

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Errors of other packages match these with their method Is. ErrUsage reports a mistake of the user. ErrFailed reports any other failure, even if it concerns
// the user's input.
var (
	ErrFailed = errors.New("failed while it ran")
	ErrUsage  = errors.New("wrong usage")
)

// usageError marks an error as a mistake of the user: a wrong flag or configuration, found before the work began.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage marks err as a mistake of the user. nil stays nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// Status returns the exit status for err.
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

// More is the text between the program's name and the page, in the line that refers to a page.
const More = ": more in "

// Report prints err on standard error, one line per problem, and then a reference to a documentation page. Pages are printed as paths that the reader can open.
func (p *Program) Report(err error) {
	if err == nil {
		return
	}
	text := err.Error()
	if near := near(missing(err)); near != "" {
		text += ": did you mean " + near + "?"
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintln(os.Stderr, p.Name+": "+Located(line))
		}
	}
	if page := PageOf(err); page != "" {
		fmt.Fprintln(os.Stderr, p.Name+More+Located(page))
	}
}
