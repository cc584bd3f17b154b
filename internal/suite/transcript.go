package suite

import (
	"bytes"
	"strings"
	"sync"
)

// Transcript keeps what a process or a logger writes while a test reads it. Its zero value is empty.
type Transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds p.
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

// Count is how often it says what.
func (l *Transcript) Count(what string) int { return strings.Count(l.String(), what) }
