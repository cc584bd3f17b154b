package file

import (
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
)

// TestTracksTable: if only the table of objects is written, its file has exactly the given name. It has a row for each object and frame with a known position,
// and the columns that other programs expect.
func TestTracksTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tracks.csv")
	s := newFile(t, "csv", map[string]any{"path": path, "table": "objects"})
	e := sinktest.Field(6)
	e.Objects.Marks[0] = 0 // of the two objects, the other is merged and has no row
	e.Objects.Marks[1] = 2
	first := sinktest.Field(5)
	first.Objects.Reset()
	before, now := first.Latent.Time.UTC().Format(time.RFC3339Nano), e.Latent.Time.UTC().Format(time.RFC3339Nano)
	for _, m := range []latent.Message{first, e, sinktest.Track(7), sinktest.Population(8), sinktest.Event()} {
		if err := s.Write(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	sinktest.Close(t, s)
	want := [][]string{
		{"frame", "particle", "x", "y", "sd", "diffusion_px2_s", "doubt", "marks", "filled", "p_link", "x_located", "y_located", "located", "time"},
		{"5", "3", "1", "2", "0.5", "", "", "0", "true", "", "1", "2", "false", before},
		{"6", "3", "0.5", "7", "0.1", "", "0.5", "0", "false", "", "0.5", "7", "false", now},
	}
	if got := readCSV(t, path); !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
	if found := files(t, filepath.Join(filepath.Dir(path), "*")); len(found) != 1 {
		t.Errorf("found %v, expected one file", found)
	}
}

// TestSceneTable: the table of objects of a scene has one object, with the number of its trajectory.
func TestSceneTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tracks.csv")
	s := newFile(t, "csv", map[string]any{"path": path, "table": "objects"})
	e := sinktest.Estimate(9, 1)
	e.Latent.Centroid = []float64{4.5, 6.25}
	if err := s.Write(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	sinktest.Close(t, s)
	rows := readCSV(t, path)
	if len(rows) != 2 || rows[1][2] != "4.5" || rows[1][3] != "6.25" || rows[1][12] != "true" || len(rows[1]) != 14+2*len(e.Latent.Mean) {
		t.Errorf("found %v", rows)
	}
}

// TestFieldTables: CSV and Parquet write every table of a field with the names of the messages' fields. Without a followed object there is no table of latents.
func TestFieldTables(t *testing.T) {
	folder := t.TempDir()
	for _, kind := range []string{"csv", "parquet"} {
		s := newFile(t, kind, map[string]any{"path": filepath.Join(folder, "out."+kind), "rotate_every": "0s"})
		for _, m := range []latent.Message{sinktest.Field(6), sinktest.Track(7), sinktest.Population(8)} {
			if err := s.Write(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		sinktest.Close(t, s)
	}
	for table, columns := range map[string][]string{
		"objects":    {"frame", "particle", "x", "y"},
		"track":      {"particle", "change", "why", "first_seq", "velocity_px_s_1", "diffusion_um2_s_high"},
		"population": {"count", "births", "spectrum_1", "common_shift_px_0", "diffusion_um2_s"},
	} {
		rows, packed := readCSV(t, filepath.Join(folder, "out."+table+".csv")), sinktest.Parquet(t, filepath.Join(folder, "out."+table+".parquet"))
		if len(rows)-1 != len(packed) || len(packed) == 0 || len(rows[0]) != len(packed[0]) {
			t.Fatalf("%s: %d rows of CSV, %d of Parquet", table, len(rows)-1, len(packed))
		}
		for _, c := range columns {
			if _, ok := packed[0][c]; !ok {
				t.Errorf("%s has no column %s: %v", table, c, rows[0])
			}
		}
	}
	if found := files(t, filepath.Join(folder, "*")); len(found) != 6 {
		t.Errorf("found %v, expected three tables of each kind", found)
	}
}

// TestTableRefused: an unknown table is refused.
func TestTableRefused(t *testing.T) {
	for _, kind := range []string{"csv", "parquet"} {
		if _, err := open(kind, sinktest.Decoder(t, map[string]any{"path": filepath.Join(t.TempDir(), "a."+kind), "table": "spots"}), nil); err == nil {
			t.Errorf("%s: a table of spots was made", kind)
		}
	}
}
