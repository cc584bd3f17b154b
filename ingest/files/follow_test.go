package files

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"driftscope/ingest/follow"
	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
	"driftscope/internal/flow/pipeline"
)

// formats are the kinds of recordings to follow, with functions that write them.
var formats = []struct {
	name string
	kind string
	new  func(t testing.TB, dir string) (path string, g grower)
	torn int // number of last bytes of a frame that make it incomplete if missing
}{
	{"directories before pixels", "tiff", func(t testing.TB, dir string) (string, grower) {
		return newPages(t, dir, growingPages{order: binary.LittleEndian, start: 8})
	}, 1},
	{"pixels before directories", "tiff", func(t testing.TB, dir string) (string, grower) {
		return newPages(t, dir, growingPages{order: binary.BigEndian, start: 8, pixelsFirst: true})
	}, 1},
	{"BigTIFF", "tiff", func(t testing.TB, dir string) (string, grower) {
		return newPages(t, dir, growingPages{order: binary.LittleEndian, start: 16, big: true})
	}, 1},
	{"length before content", "tiff", func(t testing.TB, dir string) (string, grower) {
		path, g := newPages(t, dir, growingPages{order: binary.LittleEndian, start: 8})
		if err := os.Truncate(path, 1<<20); err != nil {
			t.Fatal(err)
		}
		return path, g
	}, 2},
	{"rollover", "tiff", func(t testing.TB, dir string) (string, grower) {
		return newPages(t, dir, growingPages{order: binary.LittleEndian, start: rollsOver, part: 3})
	}, 1},
	{"NDTiff", "ndtiff", func(_ testing.TB, dir string) (string, grower) { return dir, &growingND{dir: dir} }, 9},
	{"Zarr", "zarr", func(t testing.TB, dir string) (string, grower) { return newZarrs(t, dir, false, false) }, 1},
	{"packed Zarr", "zarr", func(t testing.TB, dir string) (string, grower) { return newZarrs(t, dir, true, false) }, 1},
	{"Zarr, length before content", "zarr", func(t testing.TB, dir string) (string, grower) { return newZarrs(t, dir, true, true) }, 2},
	{"folder of PNGs", "directory", func(_ testing.TB, dir string) (string, grower) { return dir, &growingFiles{dir, ".png"} }, 1},
	{"pattern of TIFFs", "directory", func(_ testing.TB, dir string) (string, grower) {
		return filepath.Join(dir, "f_*.tif"), &growingFiles{dir, ".tif"}
	}, 1},
}

// newPages makes an empty TIFF with the name run.ome.tif.
func newPages(t testing.TB, dir string, g growingPages) (string, grower) {
	g.path = ingesttest.Write(t, filepath.Join(dir, "run.ome.tif"), nil)
	return g.path, &g
}

// put writes the pieces in small portions, without the last omit bytes of the last piece.
func put(t testing.TB, pieces []piece, omit int) {
	t.Helper()
	const portion = 300
	for i, p := range pieces {
		if i == len(pieces)-1 {
			p.data = p.data[:len(p.data)-omit]
		}
		for at := 0; at < len(p.data); at += portion {
			if _, err := p.file.WriteAt(p.data[at:min(at+portion, len(p.data))], p.at+int64(at)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// followed opens a source that follows path.
func followed(t testing.TB, kind, path, idle string) pipeline.Source {
	t.Helper()
	s, err := construct(kind, ingesttest.DecodeYAML(fmt.Sprintf("{path: %q, dt: 0.5, follow: true, until_idle: %s}", path, idle)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// check fails the test unless frames are exactly the first n frames of a grower, in order.
func check(t *testing.T, frames []ingesttest.Seen, n int) {
	t.Helper()
	if len(frames) != n {
		t.Errorf("%d frames, %d expected", len(frames), n)
	}
	for i, f := range frames {
		v := float64(shown(i))
		if f.Seq != uint64(i) || f.T != 0.5*float64(i) || f.Corner[0] != v && f.Corner[0] != 0x101*v {
			t.Errorf("frame %d is %+v", i, f)
		}
	}
}

// TestFollow: every frame of a growing recording is returned once, in order and promptly. When no more data arrive, the recording ends.
func TestFollow(t *testing.T) {
	const (
		prompt = 250 * time.Millisecond // promised time from writing a frame's last byte to reading the frame
		n      = 8
	)
	for before, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			t.Parallel()
			path, g := format.new(t, t.TempDir())
			before := before % 3 // number of frames that exist when the source is opened
			for i := range before {
				put(t, g.frame(t, i), 0)
			}
			s := followed(t, format.kind, path, "2s") // longer than a busy machine delays the writer's next byte
			whole := make(chan time.Time, n)
			go func() {
				for i := before; i < n; i++ {
					pieces := g.frame(t, i)
					put(t, pieces, 1)
					time.Sleep(time.Duration(7*i) * time.Millisecond) // the reader waits for the last byte
					last := pieces[len(pieces)-1]
					end := int64(len(last.data)) - 1
					if _, err := last.file.WriteAt(last.data[end:], last.at+end); err != nil {
						t.Error(err)
					}
					whole <- time.Now()
				}
			}()
			var frames []ingesttest.Seen
			slowest := time.Duration(0)
			for range n {
				f, err := s.Read(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				if len(frames) >= before {
					slowest = max(slowest, time.Since(<-whole))
				}
				frames = append(frames, ingesttest.Look(t, f))
				f.Close()
			}
			if slowest > prompt {
				t.Errorf("a frame came %v after it was whole, at most %v expected", slowest, prompt)
			}
			t.Logf("slowest frame %v", slowest)
			check(t, frames, n)
			quiet := time.Now()
			if _, err := s.Read(context.Background()); err != io.EOF {
				t.Errorf("%v, the end expected", err)
			}
			if took := time.Since(quiet); took < time.Second {
				t.Errorf("the end came after %v, 2 s expected", took)
			}
		})
	}
}

// TestFollowKilled: if the writer is killed within a frame, the whole frames are returned, and the torn frame gives a skip.
func TestFollowKilled(t *testing.T) {
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			t.Parallel()
			path, g := format.new(t, t.TempDir())
			const n = 4
			for i := range n {
				put(t, g.frame(t, i), 0)
			}
			put(t, g.frame(t, n), format.torn)
			frames, skipped := ingesttest.ReadAll(t, followed(t, format.kind, path, "300ms"))
			check(t, frames, n)
			if torn := []string{"torn_page", "torn_image", "torn_frame", "unreadable_file", "unreadable_page"}; len(skipped) != 1 || !slices.Contains(torn, skipped[0]) {
				t.Errorf("skipped %v, one torn frame expected", skipped)
			}
		})
	}
}

// TestFollowTornAnywhere: only whole frames are returned, at whatever byte the writer was killed.
func TestFollowTornAnywhere(t *testing.T) {
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			t.Parallel()
			for _, share := range []float64{0.01, 0.5, 0.99} {
				path, g := format.new(t, t.TempDir())
				put(t, g.frame(t, 0), 0)
				pieces := g.frame(t, 1)
				last := len(pieces[len(pieces)-1].data)
				put(t, pieces, max(format.torn, int(float64(last)*(1-share))))
				frames, skipped := ingesttest.ReadAll(t, followed(t, format.kind, path, "100ms"))
				if check(t, frames, 1); len(skipped) > 1 {
					t.Errorf("skipped %v after %g of a frame, at most that one expected", skipped, share)
				}
			}
		})
	}
}

// TestFollowAnew: a TIFF that is replaced by a new one of the same name gives an error, because its first pages would be missed.
func TestFollowAnew(t *testing.T) {
	old := join(t, ingesttest.Page(8, 8, 1, tiff.Uint8, 1), ingesttest.Page(8, 8, 1, tiff.Uint8, 2), ingesttest.Page(8, 8, 1, tiff.Uint8, 3))
	anew := ingesttest.EncodeTIFF(t, ingesttest.Page(8, 8, 1, tiff.Uint8, 4))
	for name, begin := range map[string]func(path string){
		"in its place": func(path string) { ingesttest.Write(t, path, anew) },
		"beside it": func(path string) {
			if err := os.Rename(ingesttest.Write(t, path+".part", anew), path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		path := ingesttest.Write(t, filepath.Join(t.TempDir(), "run.tif"), old)
		s := followed(t, "tiff", path, "300ms")
		for range 3 {
			f, err := s.Read(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		begin(path)
		if _, err := s.Read(context.Background()); err == nil || !strings.Contains(err.Error(), "start the run again") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, the name and start the run again expected", name, err)
		}
	}
}

// TestFollowOlderPart: a file with the name of the recording's next part that existed before is ignored until it is written again.
func TestFollowOlderPart(t *testing.T) {
	dir := t.TempDir()
	path, g := newPages(t, dir, growingPages{order: binary.LittleEndian, start: rollsOver, part: 3})
	older := ingesttest.Write(t, filepath.Join(dir, "run_1.ome.tif"), ingesttest.EncodeTIFF(t, ingesttest.Page(growW, growH, 1, tiff.Uint16, 99)))
	yesterday := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(older, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	s := followed(t, "tiff", path, "1s")
	var frames []ingesttest.Seen
	for i := range 4 {
		if i == 3 {
			if err := os.Truncate(older, 0); err != nil {
				t.Fatal(err)
			}
		}
		put(t, g.frame(t, i), 0)
		for range 2 { // the second Read waits for more
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			f, err := s.Read(ctx)
			cancel()
			if errors.Is(err, context.DeadlineExceeded) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, ingesttest.Look(t, f))
			f.Close()
		}
	}
	check(t, frames, 4)
}

// TestFollowStops: a waiting Read ends with its context, and a later Read continues.
func TestFollowStops(t *testing.T) {
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			t.Parallel()
			path, g := format.new(t, t.TempDir())
			put(t, g.frame(t, 0), 0)
			s := followed(t, format.kind, path, "1h")
			f, err := s.Read(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			ctx, stop := context.WithTimeout(context.Background(), 60*time.Millisecond)
			defer stop()
			if _, err := s.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, the context's end expected", err)
			}
			put(t, g.frame(t, 1), 0)
			f, err = s.Read(context.Background())
			if err != nil || f.Seq != 1 {
				t.Fatalf("%v, frame 1 expected", err)
			}
			f.Close()
		})
	}
}

// TestFollowFolder: pictures are returned in the order of the numbers in their names. An unreadable picture is skipped when a later one exists, and a late
// picture gives a skip. The test runs with and without the system's notices.
func TestFollowFolder(t *testing.T) {
	for name, prepare := range map[string]func(*follow.Arrivals) error{"notices": func(*follow.Arrivals) error { return nil }, "listings": (*follow.Arrivals).ListOnly} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			good := func(n int) []byte { return ingesttest.EncodePNG(t, ingesttest.Grey(8, 8, uint8(n))) }
			for _, n := range []int{10, 9} {
				ingesttest.Write(t, filepath.Join(dir, fmt.Sprintf("f%d.png", n)), good(n))
			}
			ingesttest.Write(t, filepath.Join(dir, "f11.tif"), join(t, ingesttest.Page(8, 8, 1, tiff.Uint8, 11), ingesttest.Page(8, 8, 1, tiff.Uint8, 12))) // two pages
			ingesttest.Write(t, filepath.Join(dir, "f13.png"), good(13)[:40])
			ingesttest.Write(t, filepath.Join(dir, "f14.png"), good(14))
			s := followed(t, "directory", dir, "3s")
			if err := prepare(s.(*growingFolder).arrivals); err != nil {
				t.Fatal(err)
			}
			next := func() (float64, string) { return taken(context.Background(), t, s) }
			for i, want := range []struct {
				value float64
				cause string
			}{{9, ""}, {10, ""}, {11, ""}, {12, ""}, {0, "unreadable_file"}, {14, ""}, {0, "late_file"}, {15, ""}} {
				if want.cause == "late_file" {
					ingesttest.Write(t, filepath.Join(dir, "f2.png"), good(2))
					ingesttest.Write(t, filepath.Join(dir, "f15.png"), good(15))
				}
				if value, cause := next(); value != want.value || cause != want.cause {
					t.Errorf("picture %d is %v %q, %v %q expected", i, value, cause, want.value, want.cause)
				}
			}
		})
	}
}

// taken reads a frame and returns the value in its corner, or the cause of a skip, or the text of another error.
func taken(ctx context.Context, t *testing.T, s pipeline.Source) (float64, string) {
	t.Helper()
	f, err := s.Read(ctx)
	var skip *pipeline.ErrSkip
	if errors.As(err, &skip) {
		return 0, skip.Cause
	}
	if err != nil {
		return 0, err.Error()
	}
	defer f.Close()
	return ingesttest.Look(t, f).Corner[0], ""
}

// TestFollowFolderOpen: a late picture gives a skip even while a following TIFF is open and may have more pages. If that TIFF has returned no page yet, the
// picture is not late.
func TestFollowFolderOpen(t *testing.T) {
	dir := t.TempDir()
	picture := func(n int) string { return filepath.Join(dir, fmt.Sprintf("f%d.tif", n)) }
	shot := func(n int) []byte { return ingesttest.EncodeTIFF(t, ingesttest.Page(8, 8, 1, tiff.Uint8, byte(n))) }
	s := followed(t, "directory", dir, "3s")
	next := func() (float64, string) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
		defer cancel()
		return taken(ctx, t, s)
	}
	for i, step := range []struct {
		write []int
		torn  int // half of it is written
		value float64
		cause string
	}{
		{torn: 10, cause: context.DeadlineExceeded.Error()}, // opened
		{write: []int{9}, value: 9},
		{write: []int{10}, value: 10},
		{write: []int{8, 11}, cause: "late_file"},
		{value: 11},
	} {
		for _, n := range step.write {
			ingesttest.Write(t, picture(n), shot(n))
		}
		if half := shot(step.torn); step.torn > 0 {
			ingesttest.Write(t, picture(step.torn), half[:len(half)/2])
		}
		if value, cause := next(); value != step.value || cause != step.cause {
			t.Errorf("picture %d is %v %q, %v %q expected", i, value, cause, step.value, step.cause)
		}
	}
}

func TestFollowRefused(t *testing.T) {
	dir := t.TempDir()
	text := ingesttest.Write(t, filepath.Join(dir, "a.tif"), []byte("this is no picture at all"))
	for _, c := range []struct{ kind, options, want string }{
		{"tiff", "{path: " + text + ", follow: true}", `not a TIFF file: it begins with "this"`},
		{"tiff", "{path: " + filepath.Join(dir, "none.tif") + ", follow: true}", "no such file"},
		{"tiff", "{path: x, until_idle: 3s}", "add follow"},
		{"tiff", "{path: x, follow: true, until_idle: 1ms}", "expected 100ms to"},
		{"directory", "{path: x, follow: true, frames_csv: y}", "give dt or fps"},
		{"directory", "{path: " + filepath.Join(dir, "none") + "/x, follow: true}", "give a folder"},
		{"ndtiff", "{path: " + text + ", follow: true}", "give its folder"},
	} {
		s, err := construct(c.kind, ingesttest.DecodeYAML(c.options))
		if err == nil {
			if err = s.Open(context.Background()); err == nil {
				_, err = s.Read(context.Background())
			}
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%s: %v, one line with %q expected", c.options, err, c.want)
		}
	}
}
