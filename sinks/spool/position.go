package spool

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"
)

// positionFiles hold the oldest record not forgotten, at most positionEvery old. They are written in turn: damage to one, even a kill during
// its write, leaves the other. Earlier releases had one file, first, without a checksum; it is removed.
var (
	positionFiles = [2]string{"position.0", "position.1"}
	olderFiles    = []string{"first", "first.tmp"}
)

const positionEvery = time.Second

// note writes the position of the oldest record not forgotten. The caller holds s.mu. After a failure, or a power cut, an older position
// remains: the files are not synced, because a frame may wait for note.
func (s *Spool) note() {
	if s.first == s.noted || time.Since(s.notedAt) < positionEvery {
		return
	}
	s.noted, s.notedAt, s.copy = s.first, time.Now(), 1-s.copy
	os.WriteFile(filepath.Join(s.Folder, positionFiles[s.copy]), positionText(s.first), 0o600)
}

// positionText returns a position with its checksum.
func positionText(p Position) []byte {
	text := fmt.Appendf(nil, "%d %d", p.segment, p.offset)
	return fmt.Appendf(text, " %08x\n", crc32.ChecksumIEEE(text))
}

// recall reads the last position that note wrote, or zero if no file is whole.
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

// unnote removes the position, because nothing waits.
func (s *Spool) unnote() {
	for _, name := range positionFiles {
		os.Remove(filepath.Join(s.Folder, name))
	}
}
