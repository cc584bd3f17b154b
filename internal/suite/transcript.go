package suite

import (
	"bytes"
	"strings"
	"sync"
)

// Transcript keeps the output of a process or a logger while a test reads it. Its zero value is empty.
type Transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends p.
func (l *Transcript) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Count returns the number of occurrences of what in the transcript.
func (l *Transcript) Count(what string) int { return strings.Count(l.String(), what) }
