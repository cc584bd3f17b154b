package spool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"driftscope/internal/bus/bustest"
	"driftscope/internal/latent"
)

// line is record i with a message of n bytes.
func line(i, n int) []byte {
	return AppendRecord(nil, Record{latent.KindLatent, fmt.Sprintf("run.%d", i), make([]byte, n)})
}

// waiting lists the identities of what waits.
func waiting(t *testing.T, s *Spool) (ids []string, after []Position) {
	t.Helper()
	for p := s.First(); ; {
		r, next, ok, err := s.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return ids, after
		}
		ids, after, p = append(ids, r.ID), append(after, next), next
	}
}

func openTest(t *testing.T, folder string, limit int64) *Spool {
	t.Helper()
	s, err := Open(folder, limit)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSpool: records come back in order, over many files and over a restart; what was forgotten frees its room; a full spool takes
// nothing and loses nothing.
func TestSpool(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	s := openTest(t, folder, 8<<20)
	n := 0
	for ; ; n++ {
		if err := s.Append(line(n, 100<<10)); errors.Is(err, errSpoolFull) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n < 78 || n > 81 {
		t.Errorf("%d records of 100 KiB in 8 MiB", n)
	}
	if _, err := Open(folder, 8<<20); err == nil {
		t.Error("two runs use one spool")
	}
	ids, after := waiting(t, s)
	if len(ids) != n || ids[0] != "run.0" || ids[n-1] != fmt.Sprintf("run.%d", n-1) {
		t.Fatalf("%d of %d records wait: %v", len(ids), n, ids)
	}
	if err := s.Forget(after[29]); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(line(n, 100<<10)); err != nil {
		t.Errorf("no room after 30 records were forgotten: %v", err)
	}
	if ids, _ = waiting(t, s); len(ids) != n-29 || ids[0] != "run.30" {
		t.Errorf("%d wait, the first is %s", len(ids), ids[0])
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, folder, 8<<20)
	ids, after = waiting(t, s)
	if len(ids) < n-29 || ids[len(ids)-1] != fmt.Sprintf("run.%d", n) || len(ids) > n-19 { // of the segment that was begun all come back
		t.Errorf("after a restart %d wait: %v", len(ids), ids)
	}
	if err := s.Forget(after[len(after)-1]); err != nil {
		t.Fatal(err)
	}
	if !s.Empty() {
		t.Error("something waits when all was forgotten")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(folder, "*"+spoolSuffix)); len(files) != 0 {
		t.Errorf("files stay: %v", files)
	}
}

// TestSpoolTorn: whatever a crash of the machine made of the end, what came before it is there, and what comes after follows it.
func TestSpoolTorn(t *testing.T) {
	whole := append(line(0, 50), line(1, 50)...)
	flipped := append([]byte{}, whole...)
	flipped[len(flipped)-1] ^= 1
	long := append([]byte{}, whole...)
	long[len(line(0, 50))+3] = 0xff // the second record's length
	for name, text := range map[string][]byte{
		"cut in a message": whole[:len(whole)-1], "cut in a head": whole[:len(line(0, 50))+3], "a bit": flipped, "a length": long,
		"zeros": append(line(0, 50), make([]byte, 100)...),
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "0000000000000001"+spoolSuffix), text, 0o600); err != nil {
				t.Fatal(err)
			}
			s := openTest(t, folder, 1<<20)
			defer s.Close()
			if err := s.Append(line(2, 50)); err != nil {
				t.Fatal(err)
			}
			if ids, _ := waiting(t, s); fmt.Sprint(ids) != "[run.0 run.2]" || s.Torn != int64(len(text)-len(line(0, 50))) {
				t.Errorf("found %v, %d bytes cut off", ids, s.Torn)
			}
		})
	}
}

// TestSpoolUnreadable: what a disk does not give back now is not taken for torn.
func TestSpoolUnreadable(t *testing.T) {
	folder := t.TempDir()
	if err := os.Symlink("/proc/self/mem", filepath.Join(folder, segmentName(1))); err != nil { // nothing is mapped at 0: an I/O error
		t.Fatal(err)
	}
	if s, err := Open(folder, 1<<20); !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "nats.store") {
		t.Errorf("found %v, %v, expected the disk's error", s, err)
	}
}

// TestSpoolOnFullDisk: on a disk that has room for some records only, as many as one likes go through while they are forgotten, and those
// that find no room leave nothing torn.
func TestSpoolOnFullDisk(t *testing.T) {
	folder := bustest.SmallDisk(t, 256<<10)
	s := openTest(t, filepath.Join(folder, "spool"), 64<<20)
	next := 0
	write := func() error {
		err := s.Append(line(next, 5000))
		if err == nil {
			next++
		}
		return err
	}
	for range 3 {
		var err error
		for err == nil {
			err = write()
		}
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "free some space") {
			t.Fatalf("found %v", err)
		}
		ids, after := waiting(t, s)
		if len(ids) < 20 || ids[len(ids)-1] != fmt.Sprintf("run.%d", next-1) {
			t.Fatalf("%d wait, expected all up to %d: %v", len(ids), next-1, ids)
		}
		if err := s.Forget(after[len(after)-1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(); err != nil {
		t.Fatalf("all was forgotten: %v", err)
	}
	left := s.Folder
	if err := s.lock.Close(); err != nil { // as a kill does
		t.Fatal(err)
	}
	again := openTest(t, left, 64<<20)
	if ids, _ := waiting(t, again); fmt.Sprint(ids) != fmt.Sprintf("[run.%d]", next-1) {
		t.Errorf("after a kill %v wait, expected the last one", ids)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// FuzzSpool: a folder of which two files hold anything at all opens; every record in it can be read, what is written follows, and a second
// opening finds the same.
func FuzzSpool(f *testing.F) {
	whole := append(line(0, 50), line(1, 50)...)
	for _, text := range [][]byte{nil, whole, whole[:len(whole)-1], append([]byte{0, 0, 0, 0x80}, whole...), bytes.Repeat([]byte{0xff}, 64), make([]byte, 64), AppendRecord(nil, Record{})} {
		f.Add(text, whole)
		f.Add(whole, text)
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		folder := t.TempDir()
		for name, text := range map[string][]byte{"0000000000000001": one, "000000000000000a": two, "somebody's": one} {
			if err := os.WriteFile(filepath.Join(folder, name+spoolSuffix), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := openTest(t, folder, 1<<20)
		if err := s.Append(line(7, 10)); err != nil {
			t.Fatal(err)
		}
		ids, after := waiting(t, s)
		if len(ids) == 0 || ids[len(ids)-1] != "run.7" {
			t.Fatalf("found %q", ids)
		}
		if err := s.lock.Close(); err != nil { // as a kill does
			t.Fatal(err)
		}
		s = openTest(t, folder, 1<<20)
		if again, _ := waiting(t, s); !slices.Equal(again, ids) {
			t.Errorf("found %q, then %q", ids, again)
		}
		if err := s.Forget(after[len(after)-1]); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSpoolKilled: a run that begins after one that was killed does not send again what had been forgotten a second before.
func TestSpoolKilled(t *testing.T) {
	for _, test := range []struct {
		name, first string // the file as it is found, where not empty
		waiting     int
	}{
		{"as written", "", 5},
		{"no number", "a place", 10},
		{"no such segment", "9 0\n", 10},
		{"within a record", "1 3\n", 10},
		{"behind the end", "1 1000000\n", 10},
		{"at the end", "1 1250\n", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			killed := t.TempDir()
			s := openTest(t, killed, 8<<20)
			defer s.Close()
			for i := range 10 {
				if err := s.Append(line(i, 104)); err != nil { // 125 bytes with its head
					t.Fatal(err)
				}
			}
			_, after := waiting(t, s)
			if err := s.Forget(after[4]); err != nil {
				t.Fatal(err)
			}
			left := t.TempDir()
			if err := os.CopyFS(left, os.DirFS(killed)); err != nil {
				t.Fatal(err)
			}
			if test.first != "" {
				if err := os.WriteFile(filepath.Join(left, positionFile), []byte(test.first), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			again := openTest(t, left, 8<<20)
			defer again.Close()
			if ids, _ := waiting(t, again); len(ids) != test.waiting {
				t.Errorf("%v wait, expected the last %d", ids, test.waiting)
			}
		})
	}
}
