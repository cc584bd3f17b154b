package spool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The file of the oldest record not forgotten, no older than positionEvery. After a run that was killed, what lies before it need not be
// sent again.
const (
	positionFile  = "first"
	positionPart  = ".tmp" // after its name until it is whole
	positionEvery = time.Second
)

// note writes the position of the oldest record not forgotten. s.mu is held. Where that fails, an older position stays, and the records
// between the two are sent twice. The same is true after a power cut, for the file is not synced: a frame may wait for note.
func (s *Spool) note() {
	if s.first == s.noted || time.Since(s.notedAt) < positionEvery {
		return
	}
	s.noted, s.notedAt = s.first, time.Now()
	name := filepath.Join(s.Folder, positionFile)
	if os.WriteFile(name+positionPart, fmt.Appendf(nil, "%d %d\n", s.first.segment, s.first.offset), 0o600) == nil {
		os.Rename(name+positionPart, name)
	}
}

// recall forgets what the run before had forgotten, as far as note wrote it. A position at which no record lies is of another spool.
func (s *Spool) recall() error {
	name := filepath.Join(s.Folder, positionFile)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil // an older release wrote none
	}
	var p Position
	if n, _ := fmt.Sscanf(string(text), "%d %d\n", &p.segment, &p.offset); n < 2 || !s.holds(p) {
		return os.Remove(name)
	}
	s.noted = p
	return s.forget(p)
}

// holds says that a record begins at p, or would be the next.
func (s *Spool) holds(p Position) bool {
	i := slices.IndexFunc(s.cuts, func(c *segment) bool { return c.number == p.segment })
	if i < 0 || p.offset < 0 || p.offset > s.cuts[i].size {
		return false
	}
	_, _, err := s.cuts[i].read(p.offset)
	return err == nil || p.offset == s.cuts[i].size
}
