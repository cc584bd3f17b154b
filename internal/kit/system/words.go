package system

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// Limits on the kept output of a child.
const (
	maxWords    = 3 // lines
	maxWordLine = 300
)

// lastWords is a writer that keeps the last lines. It is safe for concurrent use.
type lastWords struct {
	mu    sync.Mutex
	lines []string
	rest  []byte // beginning of an unfinished line
	over  bool
}

// Write never fails.
func (w *lastWords) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range bytes.Lines(p) {
		w.rest = append(w.rest, line[:min(len(line), maxWordLine-min(len(w.rest), maxWordLine))]...)
		if line[len(line)-1] == '\n' {
			w.keep()
		}
	}
	return len(p), nil
}

// keep stores a finished line. It drops the stack lines of the runtime after a signal or a panic, which do not help the reader of an error.
func (w *lastWords) keep() {
	line := strings.Join(strings.Fields(string(w.rest)), " ")
	w.rest = w.rest[:0]
	if line == "" || w.over || slices.Contains(w.lines, line) {
		return
	}
	w.over = strings.HasPrefix(line, "SIG") || strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
	w.lines = append(w.lines, line)
	if len(w.lines) > maxWords {
		w.lines = slices.Delete(w.lines, 0, 1)
	}
}

// String returns the last lines as one.
func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.lines, "; ")
}
