package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/latent"
)

// line returns record i with a message of n bytes.
func line(i, n int) []byte {
	return AppendRecord(nil, Record{Kind: latent.KindLatent, ID: fmt.Sprintf("run.%d", i), Line: make([]byte, n)})
}

// waiting returns the identities of the remaining records.
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

// TestSpool: records are read back in order, across many files and across a restart. Forgotten records free their room. A full spool refuses records and loses
// none.
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
	if len(ids) < n-29 || ids[len(ids)-1] != fmt.Sprintf("run.%d", n) || len(ids) > n-19 { // a partly forgotten segment is read again completely
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

// placed returns records as they are stored in the first segment.
func placed(records ...[]byte) []byte {
	all := bytes.Join(records, nil)
	seal(all, Position{segment: 1})
	return all
}

// older returns records as earlier releases wrote them, with checksums that do not depend on the position.
func older(records ...[]byte) []byte {
	all := bytes.Join(records, nil)
	for rest := all; len(rest) > 0; {
		n := spoolHead + binary.LittleEndian.Uint32(rest)
		binary.LittleEndian.PutUint32(rest[4:], crc32.ChecksumIEEE(rest[spoolHead:n]))
		rest = rest[n:]
	}
	return all
}

// TestSpoolDamaged: after any damage to a segment, the intact records before and after it are read in order, and new records follow them.
func TestSpoolDamaged(t *testing.T) {
	size := len(line(0, 50))
	for _, test := range []struct {
		name    string
		text    []byte
		damage  func(text []byte) []byte
		waiting string
		skipped int
	}{
		{"nothing", nil, func(text []byte) []byte { return text }, "run.0 run.1 run.2", 0},
		{"cut in a message", nil, func(text []byte) []byte { return text[:3*size-1] }, "run.0 run.1", size - 1},
		{"cut in a head", nil, func(text []byte) []byte { return text[:2*size+3] }, "run.0 run.1", 3},
		{"cut between records", nil, func(text []byte) []byte { return text[:2*size] }, "run.0 run.1", 0},
		{"cut to nothing", nil, func([]byte) []byte { return nil }, "", 0},
		{"a bit of the first", nil, func(text []byte) []byte { text[size-1] ^= 1; return text }, "run.1 run.2", size},
		{"a bit of the last", nil, func(text []byte) []byte { text[3*size-1] ^= 1; return text }, "run.0 run.1", size},
		{"a length", nil, func(text []byte) []byte { text[size+3] = 0xff; return text }, "run.0 run.2", size},
		{"a length of many records", nil, func(text []byte) []byte { text[size+2] = 1; return text }, "run.0 run.2", size},
		{"bytes put in", nil, func(text []byte) []byte { return slices.Insert(text, size, 0) }, "run.0", 2*size + 1}, // no record is at its original position
		{"zeros in the middle", nil, func(text []byte) []byte { clear(text[size+5 : 2*size+5]); return text }, "run.0", 2 * size},
		{"zeros behind", nil, func(text []byte) []byte { return append(text, make([]byte, 100)...) }, "run.0 run.1 run.2", 100},
		{"two changed places", nil, func(text []byte) []byte { return slices.Concat(text[size:2*size], text[:size], text[2*size:]) }, "run.2", 2 * size},
		{"more than one search", placed(line(0, 50), line(1, 3*searchStep), line(2, 50)), func(text []byte) []byte { text[size+1] ^= 1; return text }, "run.0 run.2", len(line(1, 3*searchStep))},
		{"an earlier release's", older(line(0, 50), line(1, 50), line(2, 50)), func(text []byte) []byte { text[size-1] ^= 1; return text }, "run.1 run.2", size},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.text == nil {
				test.text = placed(line(0, 50), line(1, 50), line(2, 50))
			}
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, segmentName(1)), test.damage(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			s := openTest(t, folder, 1<<20)
			defer s.Close()
			if err := s.Append(line(3, 50)); err != nil {
				t.Fatal(err)
			}
			want := strings.TrimSpace(test.waiting + " run.3")
			skipped := int64(0)
			for p := s.First(); ; {
				r, next, ok, err := s.Read(p)
				if err != nil {
					t.Fatal(err)
				}
				if skipped += r.Skipped; !ok {
					break
				}
				p = next
			}
			if ids, _ := waiting(t, s); strings.Join(ids, " ") != want || skipped != int64(test.skipped) {
				t.Errorf("found %v, %d bytes passed over, expected %s, %d", ids, skipped, want, test.skipped)
			}
		})
	}
}

// TestSpoolUnreadable: a read error of the disk does not count as a damaged record.
func TestSpoolUnreadable(t *testing.T) {
	folder := t.TempDir()
	if err := os.Symlink("/proc/self/mem", filepath.Join(folder, segmentName(1))); err != nil { // nothing is mapped at 0: an I/O error
		t.Fatal(err)
	}
	c := &segment{number: 1, size: 1 << 10}
	var err error
	if c.file, err = os.Open(filepath.Join(folder, segmentName(1))); err != nil {
		t.Fatal(err)
	}
	s := &Spool{cuts: []*segment{c}}
	defer c.file.Close()
	if r, _, _, err := s.Read(Position{}); !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "nats.store") {
		t.Errorf("found %v, %v, expected the disk's error", r, err)
	}
}

// TestSpoolOnFullDisk: on a disk with room for only some records, any number of records can pass as long as they are forgotten. A refused record leaves no
// damage.
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
	if err := s.lock.Close(); err != nil { // like a kill
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

// FuzzSpool: a folder opens whatever two of its files contain. Every record in it can be read, new records follow, and a second Open finds the same records.
func FuzzSpool(f *testing.F) {
	whole := placed(line(0, 50), line(1, 50))
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
		if err := s.lock.Close(); err != nil { // like a kill
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

// TestSpoolKilled: the run after a killed one does not repeat records that were forgotten at least a second before the kill, as long as one copy of the
// position is intact. The records themselves may be damaged.
func TestSpoolKilled(t *testing.T) {
	at := func(segment uint64, offset int64) string { return string(positionText(Position{segment, offset})) }
	for _, test := range []struct {
		name    string
		files   map[string]string // files that were changed after they were written
		waiting int
	}{
		{"as written", nil, 5},
		{"no number", map[string]string{"position.1": "a place"}, 10},
		{"without a checksum", map[string]string{"position.1": "1 500\n"}, 10},
		{"a wrong checksum", map[string]string{"position.1": strings.Replace(at(1, 500), "5", "6", 1)}, 10},
		{"the older copy", map[string]string{"position.0": at(1, 500), "position.1": ""}, 6},
		{"the newer copy", map[string]string{"position.0": at(1, 750)}, 4},
		{"of records that are gone", map[string]string{"position.1": at(9, 0)}, 10},
		{"behind the end", map[string]string{"position.1": at(1, 1000000)}, 0},
		{"at the end", map[string]string{"position.1": at(1, 1250)}, 0},
		{"before a damaged half", map[string]string{segmentName(1): "junk"}, 0},
		{"an earlier release's", map[string]string{"position.1": "", "first": "1 500\n"}, 10},
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
			for name, text := range test.files {
				if err := os.WriteFile(filepath.Join(left, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			again := openTest(t, left, 8<<20)
			defer again.Close()
			if ids, _ := waiting(t, again); len(ids) != test.waiting {
				t.Errorf("%v wait, expected the last %d", ids, test.waiting)
			}
			if err := again.Append(line(10, 104)); err != nil {
				t.Fatal(err)
			}
			if ids, _ := waiting(t, again); len(ids) != test.waiting+1 || ids[test.waiting] != "run.10" {
				t.Errorf("%v wait, expected a new record behind the last %d", ids, test.waiting)
			}
		})
	}
}
