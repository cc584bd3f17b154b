package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"driftscope/sinks/sinktest"
	"golang.org/x/sys/unix"
)

// TestSmallDisk is TestFullDisk on a real disk, which is full for a while.
func TestSmallDisk(t *testing.T) {
	folder := t.TempDir()
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no small disk can be mounted here (%v): this needs the rights of root", err)
	}
	defer unix.Unmount(folder, unix.MNT_DETACH)
	ballast := filepath.Join(folder, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("found %v, expected a full disk", err)
	}
	for _, kind := range []string{"jsonl", "csv"} {
		s := newFile(t, kind, map[string]any{"path": filepath.Join(folder, "out."+kind)})
		var taken []string
		seq, refused := uint64(0), 0
		write := func() {
			if err := s.Write(t.Context(), sinktest.Estimate(seq, 1)); err == nil {
				taken = append(taken, fmt.Sprint(seq))
			} else {
				refused++
			}
			seq++
		}
		for range 1000 { // more messages than may wait in memory
			write()
		}
		if refused == 0 {
			t.Errorf("%s: nothing was refused", kind)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		time.Sleep(tryEvery)
		before := refused
		for range 10 {
			write()
		}
		if refused != before {
			t.Errorf("%s: found %d more refused, expected none once there was room", kind, refused-before)
		}
		sinktest.Close(t, s)
		found := files(t, latents(kind, folder))
		if seqs := sequence(t, kind, found...); !slices.Equal(seqs, taken) {
			t.Errorf("%s: found %d rows, expected the %d that were taken", kind, len(seqs), len(taken))
		}
		for _, path := range found {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
			t.Fatalf("found %v, expected a full disk", err)
		}
	}
}
