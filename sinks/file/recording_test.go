package file

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
	"testing/synctest"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// disk accepts room bytes and is then full.
type disk struct {
	file // all methods except Write
	room *int
}

func (d *disk) Write(p []byte) (int, error) {
	n := min(len(p), *d.room)
	*d.room -= n
	if _, err := d.file.Write(p[:n]); err != nil {
		return 0, err
	}
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// onDisk redirects all later writes of s to a disk with the given room.
func onDisk(s sink, room *int) {
	var r *recording
	switch s := s.(type) {
	case *JSONL:
		r = &s.files
	case *CSV:
		r = &s.tables.files
	case *Parquet:
		r = &s.tables.files
	}
	for _, o := range r.outputs {
		o.file = &disk{o.file, room}
	}
}

// sequence returns the Seq of every latent in the files of a sink.
func sequence(t *testing.T, kind string, paths ...string) (seqs []string) {
	t.Helper()
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch kind {
		case "jsonl":
			for line := range strings.Lines(string(data)) {
				if !strings.HasSuffix(line, "}\n") {
					t.Errorf("%s: a torn line: %q", path, line)
				}
				if r, err := message.Decode(latent.KindLatent, []byte(line)); err == nil {
					seqs = append(seqs, fmt.Sprint(r.(*message.LatentRecord).Seq))
				}
			}
		case "csv":
			for i, row := range readCSV(t, path) {
				if i > 0 {
					seqs = append(seqs, row[0])
				}
			}
		case "parquet":
			for _, row := range sinktest.Parquet(t, path) {
				seqs = append(seqs, fmt.Sprint(row["seq"]))
			}
		}
	}
	return seqs
}

func files(t *testing.T, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func newFile(t *testing.T, kind string, options map[string]any) sink {
	t.Helper()
	s, err := open(kind, sinktest.Decoder(t, options), silent)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// latents returns the glob pattern of the files with latents, for a kind of sink.
func latents(kind, folder string) string {
	if kind == "jsonl" {
		return filepath.Join(folder, "*.jsonl")
	}
	return filepath.Join(folder, "*.latent."+kind)
}

// TestFullDisk: while the disk is full, every message is refused as undelivered, and the sink tries the disk once a second. Every accepted message is in the
// file once, in order and complete, wherever the disk was full.
func TestFullDisk(t *testing.T) {
	for _, kind := range []string{"jsonl", "csv", "parquet"} {
		for _, room := range []int{0, 1, 1000, 5000} {
			t.Run(fmt.Sprint(kind, room), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					folder := t.TempDir()
					options := map[string]any{"path": filepath.Join(folder, "out."+kind)}
					if kind == "parquet" {
						options["rotate_every"] = "2s" // without it the sink writes too much at once
					}
					s := newFile(t, kind, options)
					free := room
					onDisk(s, &free)
					var taken []string
					refused := 0
					for seq := range uint64(400) {
						if seq == 300 {
							free = 1 << 30
						}
						err := s.Write(t.Context(), sinktest.Estimate(seq, seq/10))
						switch {
						case err == nil:
							taken = append(taken, fmt.Sprint(seq))
						case errors.As(err, new(latent.Undelivered)) && strings.Contains(err.Error(), "no space left on device"):
							refused++
						default:
							t.Fatal(err)
						}
						time.Sleep(50 * time.Millisecond)
					}
					sinktest.Close(t, s)
					if refused < 20 || len(taken) < 90 {
						t.Errorf("%d refused, %d taken: expected the disk to be full for most of 15 s, and well for the last 5", refused, len(taken))
					}
					if found := sequence(t, kind, files(t, latents(kind, folder))...); !slices.Equal(found, taken) {
						t.Errorf("found %d rows, expected the %d that were taken\n%v\n%v", len(found), len(taken), found, taken)
					}
				})
			})
		}
	}
}

// TestFullToTheEnd: the error reports what could not be written, a text file ends after its last complete line, and a Parquet file without a footer keeps its
// partial name.
func TestFullToTheEnd(t *testing.T) {
	for _, kind := range []string{"jsonl", "csv", "parquet"} {
		folder := t.TempDir()
		s := newFile(t, kind, map[string]any{"path": filepath.Join(folder, "out."+kind), "rotate_every": "1h"})
		room := 1000
		onDisk(s, &room)
		for seq := range uint64(20) {
			if err := s.Write(t.Context(), sinktest.Estimate(seq, 1)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: found %v, expected it to say that the disk was full", kind, err)
		}
		found := files(t, latents(kind, folder))
		if kind == "parquet" {
			if len(found) != 0 {
				t.Errorf("found %v, which cannot be read", found)
			}
			continue
		}
		if seqs := sequence(t, kind, found...); len(seqs) == 0 || len(seqs) > 10 || seqs[0] != "0" {
			t.Errorf("%s: found %v, expected the first few", kind, seqs)
		}
	}
}

// TestRotation: files rotate by size, contain every message once, sort by name, and are not overwritten by the next run. With keep, the oldest files are
// deleted.
func TestRotation(t *testing.T) {
	for _, kind := range []string{"jsonl", "csv", "parquet"} {
		t.Run(kind, func(t *testing.T) {
			folder := t.TempDir()
			options := map[string]any{"path": filepath.Join(folder, "out."+kind), "rotate_every": "2s"}
			var want []string
			synctest.Test(t, func(t *testing.T) {
				for run := range uint64(2) {
					s := newFile(t, kind, options)
					for seq := range uint64(100) { // 5 s
						if err := s.Write(t.Context(), sinktest.Estimate(100*run+seq, 100*run+seq/10)); err != nil {
							t.Fatal(err)
						}
						want = append(want, fmt.Sprint(100*run+seq))
						time.Sleep(50 * time.Millisecond)
					}
					sinktest.Close(t, s)
				}
			})
			found := files(t, latents(kind, folder))
			if len(found) != 6 || filepath.Base(found[0])[:9] != "out-00001" {
				t.Errorf("found %v, expected three files a run", found)
			}
			if seqs := sequence(t, kind, found...); !slices.Equal(seqs, want) {
				t.Errorf("found %v", seqs)
			}
			options["keep"] = 2
			other := filepath.Join(folder, "out-00001.notes."+kind)
			if err := os.WriteFile(other, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				s := newFile(t, kind, options)
				for range 5 {
					if err := s.Write(t.Context(), sinktest.Estimate(0, 1)); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Second)
				}
				sinktest.Close(t, s)
			})
			if found = files(t, filepath.Join(folder, "*00*")); !slices.Contains(found, other) {
				t.Errorf("found %v: somebody else's file went", found)
			}
			for _, path := range found {
				if base := filepath.Base(path); path != other && base[:9] != "out-00008" && base[:9] != "out-00009" {
					t.Errorf("found %s, expected the last two", base)
				}
			}
		})
	}
}

// TestIdle: without frames no new file starts, so no recorded file is deleted for an empty one.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		s := newFile(t, "parquet", map[string]any{"path": filepath.Join(folder, "out.parquet"), "rotate_every": "2s", "keep": 4})
		for seq := range uint64(60) {
			m := latent.Message(sinktest.Health())
			if seq < 3 || seq > 55 {
				m = sinktest.Estimate(seq, 1)
			}
			if err := s.Write(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		sinktest.Close(t, s)
		found := files(t, latents("parquet", folder))
		want := []string{"0", "1", "2", "56", "57", "58", "59"}
		if seqs := sequence(t, "parquet", found...); !slices.Equal(seqs, want) || len(found) > 3 {
			t.Errorf("found %v with frames %v, expected three with %v", found, seqs, want)
		}
	})
}

// TestRotationBySize: a file is only slightly larger than its limit.
func TestRotationBySize(t *testing.T) {
	folder := t.TempDir()
	s := newFile(t, "jsonl", map[string]any{"path": filepath.Join(folder, "out.jsonl"), "rotate_mb": 0.01})
	for seq := range uint64(100) {
		if err := s.Write(t.Context(), sinktest.Estimate(seq, 1)); err != nil {
			t.Fatal(err)
		}
	}
	sinktest.Close(t, s)
	found := files(t, filepath.Join(folder, "out-*.jsonl"))
	if len(sequence(t, "jsonl", found...)) != 100 || len(found) < 3 {
		t.Errorf("found %v", found)
	}
	for _, path := range found[:len(found)-1] {
		if info, err := os.Stat(path); err != nil || info.Size() < 10_000 || info.Size() > 12_000 {
			t.Errorf("%s: %v, %v", path, info.Size(), err)
		}
	}
}

// TestFolderGone: if the folder is missing when the next file starts, only the messages until its return are lost.
func TestFolderGone(t *testing.T) {
	for _, kind := range []string{"jsonl", "csv", "parquet"} {
		t.Run(kind, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "results")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				s := newFile(t, kind, map[string]any{"path": filepath.Join(folder, "out."+kind), "rotate_every": "1s"})
				failed := 0
				for seq := range uint64(10) {
					switch seq {
					case 3:
						if err := os.RemoveAll(folder); err != nil {
							t.Fatal(err)
						}
					case 6:
						if err := os.Mkdir(folder, 0o700); err != nil {
							t.Fatal(err)
						}
					}
					if err := s.Write(t.Context(), sinktest.Estimate(seq, 1)); err != nil {
						failed++
					}
					time.Sleep(time.Second + time.Millisecond)
				}
				sinktest.Close(t, s)
				if failed < 1 || failed > 4 {
					t.Errorf("%d messages were refused, expected those of about 3 s", failed)
				}
			})
			if seqs := sequence(t, kind, files(t, latents(kind, folder))...); !slices.Contains(seqs, "9") {
				t.Errorf("found %v, expected the last message", seqs)
			}
		})
	}
}

// TestAppendAfterKill: an unfinished line of a killed run is ended, so the next record starts on a new line.
func TestAppendAfterKill(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "out.jsonl")
	if err := os.WriteFile(path, []byte("{}\n{\"v\":1"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newFile(t, "jsonl", map[string]any{"path": path, "append": true})
	if err := s.Write(t.Context(), sinktest.Estimate(1, 0)); err != nil {
		t.Fatal(err)
	}
	sinktest.Close(t, s)
	if got, err := os.ReadFile(path); err != nil || bytes.Count(got, []byte("\n")) != 3 || !bytes.HasPrefix(got, []byte("{}\n{\"v\":1\n{")) {
		t.Errorf("found %q, %v", got, err)
	}
}
