package file

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestDeletionsLimited: if small files follow each other fast, deletions are logged once a second, with their number.
func TestDeletionsLimited(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := &rotation{options: fileOptions{Path: filepath.Join(folder, "a.jsonl"), Keep: 1}, tables: []string{""}, log: slog.New(slog.NewTextHandler(&log, nil))}
		const n = 51
		write := func(i int) {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("a-%05d.jsonl", i)), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			r.prune()
		}
		for i := 1; i < n; i++ {
			write(i)
		}
		time.Sleep(time.Second)
		write(n)
		if s := log.String(); strings.Count(s, "old recordings deleted") != 2 || !strings.Contains(s, fmt.Sprintf("files=%d in_all=%d", n-2, n-1)) {
			t.Errorf("found\n%s", s)
		}
	})
}
