package file

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/kit/system"
	"driftscope/sinks/sinktest"
)

// TestAdopt: a run removes a killed run's Parquet files without rows, renames the files with rows, and logs both. It does not touch the files of a running run,
// and never uses a number twice.
func TestAdopt(t *testing.T) {
	for name, c := range map[string]struct {
		every string
		left  map[string]string // content by name
		want  []string
		kept  string // new name of the file with rows
		wrote string // file with this run's latents
		told  []string
	}{
		"numbered": {"1h", map[string]string{
			"out-00001.latent.parquet": "whole", "out-00002.latent.parquet.partial": "PAR1 rows", "out-00002.sde.parquet.partial": "PAR1",
			"out-00003.event.parquet.partial": "", "out-00003.trigger.parquet.partial": "PAR1", "out-00003.notes.parquet.partial": "",
		}, []string{"out-00001.latent.parquet", "out-00002.latent.parquet.torn", "out-00003.notes.parquet.partial", "out-00004.latent.parquet", "out-00004.sde.parquet"},
			"out-00002.latent.parquet.torn", "out-00004.latent.parquet", []string{"files=3", "out-00002.latent.parquet.torn"}},
		"one": {"0s", map[string]string{
			"out.latent.parquet.partial": "PAR1 rows", "out.sde.parquet.partial": "PAR1", "out.latent.parquet.torn": "older",
		}, []string{"out.latent.parquet", "out.latent.parquet.torn", "out.latent.parquet.torn.2", "out.sde.parquet"},
			"out.latent.parquet.torn.2", "out.latent.parquet", []string{"files=1", "out.latent.parquet.torn.2"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for name, content := range c.left {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var said bytes.Buffer
			s, err := open("parquet", sinktest.Decoder(t, map[string]any{"path": filepath.Join(folder, "out.parquet"), "rotate_every": c.every}), slog.New(slog.NewTextHandler(&said, nil)))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Write(t.Context(), sinktest.Estimate(1, 1)); err != nil {
				t.Fatal(err)
			}
			sinktest.Close(t, s)
			var found []string
			for _, path := range files(t, filepath.Join(folder, "*")) {
				found = append(found, filepath.Base(path))
			}
			if !slices.Equal(found, c.want) {
				t.Errorf("found %v, expected %v", found, c.want)
			}
			if rows, err := os.ReadFile(filepath.Join(folder, c.kept)); err != nil || string(rows) != "PAR1 rows" {
				t.Errorf("%s: %q, %v, expected the rows", c.kept, rows, err)
			}
			if seqs := sequence(t, "parquet", filepath.Join(folder, c.wrote)); !slices.Equal(seqs, []string{"1"}) {
				t.Errorf("found frames %v", seqs)
			}
			for _, want := range c.told {
				if !strings.Contains(said.String(), want) {
					t.Errorf("nobody said %q:\n%s", want, said.String())
				}
			}
		})
	}
}

// TestAdoptLiving: a run that starts does not adopt the files of a running run.
func TestAdoptLiving(t *testing.T) {
	folder := t.TempDir()
	path := map[string]any{"path": filepath.Join(folder, "out.parquet")}
	first := newFile(t, "parquet", path)
	second := newFile(t, "parquet", path)
	for _, s := range []sink{first, second} {
		if err := s.Write(t.Context(), sinktest.Estimate(1, 1)); err != nil {
			t.Fatal(err)
		}
	}
	sinktest.Close(t, second)
	sinktest.Close(t, first)
	if found := files(t, filepath.Join(folder, "*.latent.parquet")); len(found) != 2 || len(files(t, filepath.Join(folder, "*"+system.Suffix))) != 0 {
		t.Errorf("found %v, expected one of each run", found)
	}
}
