package sinktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Parquet reads the rows of a file with a library other than the writer's. It returns the values by column.
func Parquet(t testing.TB, path string) []map[string]any {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := parquet.NewReader(f)
	defer r.Close()
	columns := r.Schema().Columns()
	var rows []map[string]any
	buffer := make([]parquet.Row, 64)
	for {
		n, err := r.ReadRows(buffer)
		for _, values := range buffer[:n] {
			row := map[string]any{}
			for _, v := range values {
				name := columns[v.Column()][0]
				switch v.Kind() {
				case parquet.Int64:
					row[name] = v.Int64()
				case parquet.Double:
					row[name] = v.Double()
				case parquet.Boolean:
					row[name] = v.Boolean()
				default:
					row[name] = string(v.ByteArray())
				}
			}
			rows = append(rows, row)
		}
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
}

// Flat returns a record's JSON as columns. Lists become name_0, name_1 and so on, and forecasts have a second index.
func Flat(t testing.TB, line string, dims int) map[string]any {
	t.Helper()
	var fields map[string]any
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"v", "kind", "stream", "drift_field"} {
		delete(fields, name)
	}
	for name, v := range fields {
		list, ok := v.([]any)
		if !ok {
			continue
		}
		delete(fields, name)
		for i, entry := range list {
			at := fmt.Sprint(name, "_", i)
			if name == "forecast" || name == "forecast_sd" {
				at = fmt.Sprint(name, "_", i/dims, "_", i%dims)
			}
			fields[at] = entry
		}
	}
	return fields
}
