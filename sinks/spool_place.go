package sinks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The file that tells the run after one that was killed what need not be sent again: the oldest record not given up, as it was so long ago
// at most.
const (
	placeFile  = "first"
	placePart  = ".tmp" // after its name until it is whole
	placeEvery = time.Second
)

// note writes down where the oldest record lies that was not given up. s.mu is held. Where that fails, an older place stays, and what lies
// between is sent twice. It is not synced, for a frame may wait: of a place that a power cut took the same is true.
func (s *spool) note() {
	if s.first == s.noted || time.Since(s.notedAt) < placeEvery {
		return
	}
	s.noted, s.notedAt = s.first, time.Now()
	name := filepath.Join(s.folder, placeFile)
	if os.WriteFile(name+placePart, fmt.Appendf(nil, "%d %d\n", s.first.segment, s.first.offset), 0o600) == nil {
		os.Rename(name+placePart, name)
	}
}

// recall gives up what was given up before, as far as that was written down. What is no place in what is there is of another spool.
func (s *spool) recall() error {
	name := filepath.Join(s.folder, placeFile)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil // an older release wrote none
	}
	var p place
	if n, _ := fmt.Sscanf(string(text), "%d %d\n", &p.segment, &p.offset); n < 2 || !s.holds(p) {
		return os.Remove(name)
	}
	s.noted = p
	return s.forget(p)
}

// holds says that a record begins at p, or would be the next.
func (s *spool) holds(p place) bool {
	i := slices.IndexFunc(s.cuts, func(c *segment) bool { return c.number == p.segment })
	if i < 0 || p.offset < 0 || p.offset > s.cuts[i].size {
		return false
	}
	_, _, err := s.cuts[i].read(p.offset)
	return err == nil || p.offset == s.cuts[i].size
}
