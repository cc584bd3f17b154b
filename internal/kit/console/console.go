package console

import (
	"fmt"
	"os"
	"time"
)

// Say prints one line on standard error.
func Say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// Warn prints a warning on standard error.
func Warn(format string, args ...any) { fmt.Fprintf(os.Stderr, "warning: "+format+"\n", args...) }

// Left returns the remaining time at the mean pace so far, after a comma, or "" while the pace is unknown.
func Left(spent time.Duration, made, all int) string {
	if made == 0 {
		return ""
	}
	return fmt.Sprintf(", about %v left", (spent / time.Duration(made) * time.Duration(all-made)).Round(time.Minute))
}
