package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// TestParquetReadBack: a run writes its results as JSON lines and as Parquet. Another library reads the same values from Parquet.
func TestParquetReadBack(t *testing.T) {
	folder := t.TempDir()
	written(t, folder, map[string]string{"bead.yaml": "stream: bead\nsource: {sim: {name: molecule, seed: 4, realtime: false}}\nmodel: embedded:molecule\nnats: {url: off}\ndashboard: {address: off}\n" +
		"online: {forecast_s: [0.1, 0.5], seed: 1}\ntriggers: [zone: {name: start, ball: {centre: {z1: 0, z2: 0}, radius: 0.3}, margin: 0.3}]\n" +
		"sinks: [jsonl: {path: out.jsonl}, parquet: {path: out.parquet, rotate_every: 0s}]\n"})
	if o := drive(t, folder, "run", "bead.yaml", "--frames", "300"); o.status != 0 {
		t.Fatal(o.errors)
	}
	f, err := os.Open(filepath.Join(folder, "out.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, values := map[string][]map[string]any{}, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, message.MaxRecord)
	for lines.Scan() {
		kind, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), `{"v":1,"kind":"`), `"`)
		if kind == "health" { // has no table
			continue
		}
		if rows[kind] == nil {
			rows[kind] = sinktest.Parquet(t, filepath.Join(folder, "out."+kind+".parquet"))
		}
		if len(rows[kind]) == 0 {
			t.Fatalf("%s: Parquet has fewer rows than there are lines", kind)
		}
		row, want := rows[kind][0], sinktest.Flat(t, lines.Text(), 2)
		rows[kind] = rows[kind][1:]
		for name, value := range row {
			v, said := want[name]
			delete(want, name)
			values++
			if !same(value, v, said) {
				t.Errorf("%s.%s: found %v, the line says %v", kind, name, value, v)
			}
		}
		if len(want) > 0 {
			t.Errorf("%s: Parquet has no columns for %v", kind, want)
		}
	}
	for _, kind := range []string{"latent", "sde", "trigger", "event"} {
		if left, has := rows[kind]; !has || len(left) > 0 {
			t.Errorf("%s: %d rows of Parquet are on no line; lines: %v", kind, len(left), has)
		}
	}
	t.Logf("%d values", values)
}

// same reports whether a value in Parquet equals the value in JSON. JSON cannot represent non-finite values, and omits zeros.
func same(value, v any, said bool) bool {
	switch v := v.(type) {
	case nil:
		number, ok := value.(float64)
		return ok && (math.IsNaN(number) || math.IsInf(number, 0)) || !said && fmt.Sprint(value) == "0"
	case json.Number:
		if number, ok := value.(float64); ok {
			read, err := v.Float64()
			return err == nil && read == number
		}
		return fmt.Sprint(value) == v.String()
	case string:
		if at, ok := value.(int64); ok {
			value = time.Unix(0, at).UTC().Format(time.RFC3339Nano)
		}
		return value == v
	}
	return value == v
}
