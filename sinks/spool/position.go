package spool

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"
)

// positionFiles hold the oldest record not forgotten, no older than positionEvery. They are written in turn: whatever damages one, a kill in
// the middle of it too, leaves the other. Earlier releases had one file, first, without a checksum; it is removed.
var (
	positionFiles = [2]string{"position.0", "position.1"}
	olderFiles    = []string{"first", "first.tmp"}
)

const positionEvery = time.Second

// note writes the position of the oldest record not forgotten. s.mu is held. Where that fails, an older position stays. The same is true
// after a power cut, for the files are not synced: a frame may wait for note.
func (s *Spool) note() {
	if s.first == s.noted || time.Since(s.notedAt) < positionEvery {
		return
	}
	s.noted, s.notedAt, s.copy = s.first, time.Now(), 1-s.copy
	os.WriteFile(filepath.Join(s.Folder, positionFiles[s.copy]), positionText(s.first), 0o600)
}

// positionText is a position with its checksum.
func positionText(p Position) []byte {
	text := fmt.Appendf(nil, "%d %d", p.segment, p.offset)
	return fmt.Appendf(text, " %08x\n", crc32.ChecksumIEEE(text))
}

// recall reads what note wrote last; zero if nothing whole is there.
func (s *Spool) recall() (p Position) {
	for _, name := range olderFiles {
		os.Remove(filepath.Join(s.Folder, name))
	}
	for i, name := range positionFiles {
		text, err := os.ReadFile(filepath.Join(s.Folder, name))
		if err != nil {
			continue // there is none yet
		}
		var q Position
		if n, _ := fmt.Sscanf(string(text), "%d %d", &q.segment, &q.offset); n == 2 && string(text) == string(positionText(q)) && p.Before(q) {
			p, s.copy = q, i
		}
	}
	return p
}

// unnote removes the position, as nothing waits.
func (s *Spool) unnote() {
	for _, name := range positionFiles {
		os.Remove(filepath.Join(s.Folder, name))
	}
}
