package learning

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKept: a film that was measured is not measured again, as long as nothing that its figure depends on has changed.
func TestKept(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "films")
	film := func() *cell {
		return &cell{Scene: "balls-ou", Nuisance: "random", Frames: 60, Seed: 5, On: []laid{{"hot", 1}}}
	}
	times := 0
	how := func(_ context.Context, k *cell) error {
		if times++; times == 1 {
			return errors.New("disk full")
		}
		k.Verdict, k.Held = good, figure(0.9)
		return nil
	}
	f, err := newKept(folder, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.measure(t.Context(), film(), how); err == nil {
		t.Error("a failure was swallowed")
	}
	bare := &cell{Scene: "balls-ou", Nuisance: "random", Frames: 60, Seed: 6, On: []laid{}}
	for n, k := range []*cell{film(), film(), film(), bare, bare} {
		if err := f.measure(t.Context(), k, how); err != nil || times != 2+n/3 || k.Verdict != good || *k.Held != 0.9 || k.On == nil {
			t.Errorf("film %d: %v: %+v, after %d measurements", n, err, k, times)
		}
	}
	other := film()
	other.On[0].Amount = 2
	fewer, _ := newKept(folder, "", 6)
	for name, err := range map[string]error{"another nuisance": f.measure(t.Context(), other, how), "other steps": fewer.measure(t.Context(), film(), how)} {
		if err == nil || !strings.Contains(err.Error(), "give another --out") {
			t.Errorf("%s: %v", name, err)
		}
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*"))
	if len(files) != 2 {
		t.Fatalf("found %v, expected two files", files)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.measure(t.Context(), film(), how); err == nil || times != 3 {
		t.Errorf("a torn file: %v, after %d measurements", err, times)
	}
	none, _ := newKept("", "", 0)
	if err := none.measure(t.Context(), film(), how); err != nil || times != 4 {
		t.Errorf("%v after %d measurements, expected another", err, times)
	}
}
