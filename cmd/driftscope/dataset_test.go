package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gocv.io/x/gocv"

	"driftscope/infer/card"
)

// pictures writes n grey frames of side × side with a bright spot on a random walk to folder/name.
func pictures(t *testing.T, folder, name string, n, side int) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(uint64(n), 0))
	m := gocv.NewMatWithSize(side, side, gocv.MatTypeCV8UC1)
	defer m.Close()
	data, err := m.DataPtrUint8()
	if err != nil {
		t.Fatal(err)
	}
	edge := float64(side) / 5
	x, y := float64(side)/2, float64(side)/2
	for k := range n {
		for p := range data {
			dx, dy := float64(p%side)-x, float64(p/side)-y
			data[p] = uint8(20 + 200*math.Exp(-(dx*dx+dy*dy)/40))
		}
		if !gocv.IMWrite(filepath.Join(folder, name, fmt.Sprintf("%03d.png", k)), m) {
			t.Fatal("no picture was written")
		}
		x, y = min(max(x+2*rng.NormFloat64(), edge), 4*edge), min(max(y+2*rng.NormFloat64(), edge), 4*edge)
	}
}

var whole = span{0, math.MaxUint64}

func TestDataset(t *testing.T) {
	folder := t.TempDir()
	pictures(t, folder, "a", 10, 32)
	pictures(t, folder, "b", 7, 32)
	table := "file,t,trajectory\n"
	for k := range 10 {
		table += fmt.Sprintf("%03d.png,%g,%d\n", k, 0.1*float64(k), 4-k/6)
	}
	if err := os.WriteFile(filepath.Join(folder, "a", "frames.csv"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := openDataset([]string{filepath.Join(folder, "a"), filepath.Join(folder, "b")}, 0.1, 0, "", whole)
	if err != nil {
		t.Fatal(err)
	}
	s, err := data.survey(t.Context())
	if err != nil || s.frames != 17 {
		t.Fatalf("%d frames surveyed, expected 17 (%v)", s.frames, err)
	}
	clip, err := data.clip(t.Context(), s.steps(0, 255, false, nil))
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
	pictures(t, folder, "a", 5, 32)
	pictures(t, folder, "b", 5, 40)
	at := func(name string) string { return filepath.Join(folder, name) }
	if _, err := openDataset([]string{at("a"), at("b")}, 0.1, 0, "", span{0, 3}); err == nil || exitStatus(err) != 2 {
		t.Errorf("a span over two recordings: %v, a usage error expected", err)
	}
	data, err := openDataset([]string{at("a"), at("b")}, 0.1, 0, "", whole)
	if err != nil {
		t.Fatal(err)
	}
	want := at("b") + ": frame 0 is 40x40, the first was 32x32"
	if _, err := data.survey(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, an error with %q expected", err, want)
	}
	want = at("b") + ": frame 0 is 1x40x40, the first was 1x32x32"
	steps := []card.Step{{Kind: "normalise", Options: map[string]any{"window": []any{0, 255}}}}
	if _, err := data.clip(t.Context(), steps); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, an error with %q expected", err, want)
	}
	timeless, err := openDataset([]string{at("a")}, 0, 0, "", whole)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := timeless.clip(t.Context(), steps); err == nil || exitStatus(err) != 2 || !strings.Contains(err.Error(), "give --dt SECONDS or --fps N") {
		t.Errorf("without times: %v, a usage error expected", err)
	}
}
