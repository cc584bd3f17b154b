package spool

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"time"
)

// positionFiles contain the position of the oldest remaining record, at most positionEvery old. They are written alternately: damage to one, even by a kill
// during its write, leaves the other intact. Earlier releases had one file called first, without a checksum; it is removed.
var (
	positionFiles = [2]string{"position.0", "position.1"}
	olderFiles    = []string{"first", "first.tmp"}
)

const positionEvery = time.Second

// note writes the position of the oldest remaining record. The caller holds s.mu. The files are not synced, because a frame may wait for note. So an older
// position may remain after a failure or a power cut.
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

// recall returns the last position that note wrote, or zero if no file is intact.
func (s *Spool) recall() (p Position) {
	for _, name := range olderFiles {
		os.Remove(filepath.Join(s.Folder, name))
	}
	for i, name := range positionFiles {
		text, err := os.ReadFile(filepath.Join(s.Folder, name))
		if err != nil {
			continue // the file does not exist yet
		}
		var q Position
		if n, _ := fmt.Sscanf(string(text), "%d %d", &q.segment, &q.offset); n == 2 && string(text) == string(positionText(q)) && p.Before(q) {
			p, s.copy = q, i
		}
	}
	return p
}

// unnote removes the position files, because no record is left.
func (s *Spool) unnote() {
	for _, name := range positionFiles {
		os.Remove(filepath.Join(s.Folder, name))
	}
}
