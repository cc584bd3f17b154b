package file

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll() // refuses rows of different lengths
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rows
}

// TestColumns: both kinds of table have exactly one column per field of the messages, and every number keeps its exact value.
func TestColumns(t *testing.T) {
	folder := t.TempDir()
	messages := []latent.Message{sinktest.Hard(), sinktest.Event(), sinktest.Trigger(7), sinktest.Health(), sinktest.View()}
	for _, kind := range []string{"csv", "parquet"} {
		s := newFile(t, kind, map[string]any{"path": filepath.Join(folder, "out."+kind), "rotate_every": "0s"})
		for _, m := range messages {
			if err := s.Write(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		sinktest.Close(t, s)
	}
	if found := files(t, filepath.Join(folder, "*")); len(found) != 8 {
		t.Errorf("found %v, expected four tables of each kind", found)
	}
	kinds, said := sinktest.Lines(t, (&message.Encoder{Stream: "bead"}).Encode, messages...)
	for i, kind := range kinds[:4] {
		want := sinktest.Flat(t, said[i], 2)
		rows := readCSV(t, filepath.Join(folder, "out."+string(kind)+".csv"))
		packed := sinktest.Parquet(t, filepath.Join(folder, "out."+string(kind)+".parquet"))
		if len(rows) != 2 || len(packed) != 1 || len(rows[0]) != len(want) || len(packed[0]) != len(want) {
			t.Fatalf("%s: found %d rows of %d columns and %d of %d, expected 2 and 1 of %d", kind, len(rows), len(rows[0]), len(packed), len(packed[0]), len(want))
		}
		for c, name := range rows[0] {
			v, known := want[name]
			if !known {
				t.Errorf("%s has the column %s, which is no field", kind, name)
			}
			text, value := rows[1][c], packed[0][name]
			switch v := v.(type) {
			case nil:
				if number, ok := value.(float64); text != "" || !ok || !math.IsNaN(number) && !math.IsInf(number, 0) {
					t.Errorf("%s.%s: found %q and %v, expected nothing", kind, name, text, value)
				}
			case json.Number:
				a, _ := v.Float64()
				b, err := strconv.ParseFloat(text, 64)
				if err != nil || math.Float64bits(a) != math.Float64bits(b) {
					t.Errorf("%s.%s: found %q, expected %v", kind, name, text, v)
				}
				if c, ok := value.(float64); ok && math.Float64bits(a) != math.Float64bits(c) || !ok && fmt.Sprint(value) != text {
					t.Errorf("%s.%s: found %v, expected %v", kind, name, value, v)
				}
			default:
				if fmt.Sprint(v) != text {
					t.Errorf("%s.%s: found %q, expected %v", kind, name, text, v)
				}
				if at, ok := value.(int64); ok {
					value = time.Unix(0, at).UTC().Format(time.RFC3339Nano)
				}
				if fmt.Sprint(v) != fmt.Sprint(value) {
					t.Errorf("%s.%s: found %v, expected %v", kind, name, value, v)
				}
			}
		}
	}
}

// TestDocumentedColumns: docs/howto/recordings-out.md names every column.
func TestDocumentedColumns(t *testing.T) {
	page, err := os.ReadFile("../../docs/howto/recordings-out.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows [tableCount]table
	rows[latentTable].latent(sinktest.Hard())
	rows[sdeTable].sde(0, sinktest.Noon, &sinktest.Hard().SDE, 2)
	rows[eventTable].event(sinktest.Event())
	rows[triggerTable].trigger(sinktest.Trigger(7))
	field := sinktest.Field(6)
	field.Objects.Latents, field.Objects.Z, field.Objects.ZSD = 1, []float64{1, 2}, []float64{3, 4}
	var places places
	if err := places.each(field, func(n *node) error { rows[objectsTable].object(n, 1); return nil }); err != nil {
		t.Fatal(err)
	}
	rows[trackTable].track(sinktest.Track(7))
	rows[populationTable].population(sinktest.Population(8))
	index := regexp.MustCompile(`(_\d+)+$`)
	for _, columns := range rows {
		for _, c := range columns.columns {
			name := index.ReplaceAllStringFunc(c.name, func(i string) string { return strings.Repeat("_N", strings.Count(i, "_")) })
			if !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("the page does not name %s", name)
			}
		}
	}
}

// TestOtherColumns: latents of another dimension start the next file, so columns never change within a file.
func TestOtherColumns(t *testing.T) {
	for _, kind := range []string{"csv", "parquet"} {
		folder := t.TempDir()
		s := newFile(t, kind, map[string]any{"path": filepath.Join(folder, "out."+kind), "rotate_every": "0s"})
		for seq := range uint64(6) {
			e := sinktest.Estimate(seq, seq+1)
			if seq >= 3 {
				e.Latent.Mean, e.Horizons = append(e.Latent.Mean, 5), nil
			}
			if err := s.Write(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		sinktest.Close(t, s)
		for table, most := range map[string]int{"latent": 3, "sde": 3} {
			for i, name := range []string{"out", "out-00001"} {
				path := filepath.Join(folder, name+"."+table+"."+kind)
				seqs := sequence(t, kind, path)
				if len(seqs) != most || seqs[0] != fmt.Sprint(3*i) {
					t.Errorf("%s: found %v", path, seqs)
				}
			}
		}
	}
}

// TestManyGroups: more rows than one row group has are read back in order.
func TestManyGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.parquet")
	s := newFile(t, "parquet", map[string]any{"path": path, "rotate_every": "0s"})
	const rows = 30_000
	for seq := range uint64(rows) {
		if err := s.Write(t.Context(), sinktest.Estimate(seq, 1)); err != nil {
			t.Fatal(err)
		}
	}
	sinktest.Close(t, s)
	seqs := sequence(t, "parquet", strings.TrimSuffix(path, ".parquet")+".latent.parquet")
	if len(seqs) != rows || !slices.IsSortedFunc(seqs, func(a, b string) int { x, _ := strconv.Atoi(a); y, _ := strconv.Atoi(b); return x - y }) {
		t.Errorf("found %d rows, expected %d in order", len(seqs), rows)
	}
}

// BenchmarkWrite measures a frame without a new law.
func BenchmarkWrite(b *testing.B) {
	for _, kind := range []string{"jsonl", "csv", "parquet"} {
		for _, d := range []int{2, 16} {
			b.Run(fmt.Sprint(kind, "/", d), func(b *testing.B) {
				s, err := open(kind, sinktest.Decoder(b, map[string]any{"path": filepath.Join(b.TempDir(), "out."+kind)}), silent)
				if err != nil {
					b.Fatal(err)
				}
				e := sinktest.Wide(d)
				b.ReportAllocs()
				for b.Loop() {
					e.Latent.Seq++
					e.Latent.Mean[0] = math.Sin(float64(e.Latent.Seq))
					if err := s.Write(b.Context(), e); err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
				if err := s.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// inPython prints z_0 of every frame, bit by bit.
const inPython = `
import csv, sys
print("csv", *(float(r["z_0"]).hex() for r in csv.DictReader(open(sys.argv[1]))))
try:
    import pyarrow.parquet
except ImportError:
    sys.exit()
print("parquet", *(z.hex() for z in pyarrow.parquet.read_table(sys.argv[2]).column("z_0").to_pylist()))
`

// TestPython: Python reads the files to the last bit; Parquet only if pyarrow is installed.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3")
	}
	folder := t.TempDir()
	for _, kind := range []string{"csv", "parquet"} {
		s := newFile(t, kind, map[string]any{"path": filepath.Join(folder, "out."+kind), "rotate_every": "0s"})
		for _, m := range []latent.Message{sinktest.Hard(), sinktest.Event(), sinktest.Estimate(1, 1)} {
			if err := s.Write(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		sinktest.Close(t, s)
	}
	out, err := exec.Command(python, "-c", inPython, filepath.Join(folder, "out.latent.csv"), filepath.Join(folder, "out.latent.parquet")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	printed := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, kind := range []string{"csv", "parquet"}[:len(printed)] {
		if want := kind + " 0x1.3333333333333p-2 0x1.0000000000000p-1"; printed[i] != want {
			t.Errorf("found %q, expected %q", printed[i], want)
		}
	}
}
