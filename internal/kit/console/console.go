package console

import (
	"fmt"
	"os"
	"time"
)

// Say tells the user something on standard error, in one line.
func Say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// Warn is Say for what may spoil what comes.
func Warn(format string, args ...any) { fmt.Fprintf(os.Stderr, "warning: "+format+"\n", args...) }

// Left says how long the rest of all will take at the mean pace so far, behind a comma; nothing before there is a pace.
func Left(spent time.Duration, made, all int) string {
	if made == 0 {
		return ""
	}
	return fmt.Sprintf(", about %v left", (spent / time.Duration(made) * time.Duration(all-made)).Round(time.Minute))
}
