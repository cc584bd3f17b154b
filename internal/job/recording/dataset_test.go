package recording

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/infer/card"
	"driftscope/internal/job/jobtest"
	"driftscope/internal/kit/console"
)

func TestDataset(t *testing.T) {
	folder := t.TempDir()
	jobtest.WritePictures(t, folder, "a", 10, 32)
	jobtest.WritePictures(t, folder, "b", 7, 32)
	table := "file,t,trajectory\n"
	for k := range 10 {
		table += fmt.Sprintf("%03d.png,%g,%d\n", k, 0.1*float64(k), 4-k/6)
	}
	if err := os.WriteFile(filepath.Join(folder, "a", "frames.csv"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := OpenDataset([]string{filepath.Join(folder, "a"), filepath.Join(folder, "b")}, 0.1, 0, "", Whole)
	if err != nil {
		t.Fatal(err)
	}
	s, err := data.Survey(t.Context())
	if err != nil || s.frames != 17 {
		t.Fatalf("%d frames surveyed, expected 17 (%v)", s.frames, err)
	}
	clip, err := data.Clip(t.Context(), s.Steps(0, 255, false, nil))
	if err != nil {
		t.Fatal(err)
	}
	pairs := clip.Pairs(clip.MaxGap())
	if clip.Len() != 17 || len(pairs) != 5+3+6 {
		t.Errorf("%d frames with %d pairs, expected 17 with 14", clip.Len(), len(pairs))
	}
	for _, p := range pairs {
		if p.First == 5 || p.First == 9 {
			t.Errorf("frames %d and %d make a pair across a cut", p.First, p.First+1)
		}
	}
}

func TestDatasetRefuses(t *testing.T) {
	folder := t.TempDir()
	jobtest.WritePictures(t, folder, "a", 5, 32)
	jobtest.WritePictures(t, folder, "b", 5, 40)
	at := func(name string) string { return filepath.Join(folder, name) }
	if _, err := OpenDataset([]string{at("a"), at("b")}, 0.1, 0, "", Span{From: 0, To: 3}); err == nil || console.Status(err) != 2 {
		t.Errorf("a span over two recordings: %v, a usage error expected", err)
	}
	data, err := OpenDataset([]string{at("a"), at("b")}, 0.1, 0, "", Whole)
	if err != nil {
		t.Fatal(err)
	}
	want := at("b") + ": frame 0 is 40x40, the first was 32x32"
	if _, err := data.Survey(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, an error with %q expected", err, want)
	}
	want = at("b") + ": frame 0 is 1x40x40, the first was 1x32x32"
	steps := []card.Step{{Kind: "normalise", Options: map[string]any{"window": []any{0, 255}}}}
	if _, err := data.Clip(t.Context(), steps); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, an error with %q expected", err, want)
	}
	timeless, err := OpenDataset([]string{at("a")}, 0, 0, "", Whole)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := timeless.Clip(t.Context(), steps); err == nil || console.Status(err) != 2 || !strings.Contains(err.Error(), "give --dt SECONDS or --fps N") {
		t.Errorf("without times: %v, a usage error expected", err)
	}
}
