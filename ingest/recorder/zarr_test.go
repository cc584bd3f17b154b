package recorder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/ingest/zarr"
	"driftscope/internal/flow/frame"
)

// recordZarr records n reads of a camera into a store.
func recordZarr(t *testing.T, c *camera, n int) (frames []kept, r *Recorder, folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "run.zarr")
	r, err := New(c, folder, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	frames, events := take(t, r, n)
	if len(events) > 0 {
		t.Errorf("events %v", events)
	}
	return frames, r, folder
}

// TestRecordZarr: frames of an OME-Zarr recording are read back unchanged, including colours and losses, and the store has their mean time step.
func TestRecordZarr(t *testing.T) {
	for _, kind := range []frame.MatType{frame.MatTypeCV8UC1, frame.MatTypeCV16UC1, frame.MatTypeCV32FC1, frame.MatTypeCV8UC3, frame.MatTypeCV16UC3} {
		c := &camera{t: t, kind: kind, lost: map[uint64]bool{2: true}, bad: map[uint64]bool{4: true}}
		want, r, folder := recordZarr(t, c, 8)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		for i := range want { // unreadable frames count in Dropped of the next frame, as in tracking
			if want[i].seq == 5 {
				want[i].dropped++
			}
		}
		got, skipped := again(t, folder)
		if len(skipped) > 0 || !slices.Equal(got, want) {
			t.Errorf("%v: %d frames, skipped %v; other than the %d that were recorded", kind, len(got), skipped, len(want))
		}
		image, err := zarr.Open(os.DirFS(folder), 0)
		if err != nil {
			t.Fatal(err)
		}
		if image.Times() != len(want) || !(image.Interval > 0) || image.Width != 7 || image.Height != 5 {
			t.Errorf("%v: the store has %d times of %dx%d, every %g s", kind, image.Times(), image.Width, image.Height, image.Interval)
		}
		image.Close()
	}
}

// TestRecordZarrKilled: a recording that was not closed can be read up to its last frame, as a recording and as a store.
func TestRecordZarrKilled(t *testing.T) {
	want, r, folder := recordZarr(t, &camera{t: t, kind: frame.MatTypeCV16UC1}, 5)
	defer r.Close()
	index := filepath.Join(folder, indexName)
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(index, text[:len(text)-5], 0o666); err != nil {
		t.Fatal(err)
	}
	got, skipped := again(t, folder)
	if !slices.Equal(got, want[:4]) || !slices.Equal(skipped, []string{"torn_recording"}) {
		t.Errorf("%d frames, skipped %v; 4 and torn_recording expected", len(got), skipped)
	}
	image, err := zarr.Open(os.DirFS(folder), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	if last, err := image.Last(zarr.Place{}, false); last != 4 || err != nil || !(image.Interval > 0) {
		t.Errorf("the last is %d, %v, every %g s", last, err, image.Interval)
	}
}

// TestRecordZarrLost: a store continues after the source was lost and reopened, and ends at its size bound.
func TestRecordZarrLost(t *testing.T) {
	c := &camera{t: t, kind: frame.MatTypeCV8UC1}
	first, r, folder := recordZarr(t, c, 3)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	take(t, r, 2)
	r.most = r.Size()
	if _, events := take(t, r, 1); !slices.Equal(events, []string{"recording_stopped"}) {
		t.Errorf("events %v, the end of the recording expected", events)
	}
	if account := r.Account(); !strings.Contains(account, "recorded 5 frames") || !strings.Contains(account, "record.max_gb") {
		t.Errorf("%s", account)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got, skipped := again(t, folder); len(got) != 5 || len(skipped) > 0 || !slices.Equal(got[:3], first) {
		t.Errorf("%d frames, skipped %v; 5 expected", len(got), skipped)
	}
}
