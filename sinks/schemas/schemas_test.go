package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/sinks"
)

const root = "../.."

func generated(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestUpToDate: the files in docs/schemas agree with the types.
func TestUpToDate(t *testing.T) {
	for name, want := range generated(t) {
		if got, err := os.ReadFile(filepath.Join(root, "docs", "schemas", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the types say (%v): run make schemas", name, err)
		}
	}
}

// schemas returns the decoded JSON Schemas by kind.
func schemas(t *testing.T) map[string]object {
	t.Helper()
	out := map[string]object{}
	for name, text := range generated(t) {
		kind, ok := strings.CutSuffix(name, ".schema.json")
		if !ok {
			continue
		}
		var s object
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		out[kind] = s
	}
	return out
}

// flat returns every field of a schema with the properties on which readers rely: its path, its type, its unit, and whether it is required.
func flat(path string, s object) (lines []string) {
	required, _ := s["required"].([]any)
	properties, _ := s["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := properties[name].(object)
		line := fmt.Sprintf("%s.%s: %s", path, name, shape(p))
		if unit, ok := p["x-unit"]; ok {
			line += fmt.Sprintf(", %v", unit)
		}
		if !slices.Contains(required, any(name)) {
			line += ", optional"
		}
		lines = append(lines, line)
		lines = append(lines, flat(path+"."+name, p)...)
		if items, ok := p["items"].(object); ok {
			lines = append(lines, flat(path+"."+name+"[]", items)...)
		}
	}
	return lines
}

// shape describes a type in a few words.
func shape(s object) string {
	if v, ok := s["const"]; ok {
		return fmt.Sprintf("always %v", v)
	}
	text := fmt.Sprint(s["type"])
	if items, ok := s["items"].(object); ok {
		text += " of " + shape(items)
	}
	for _, key := range []string{"enum", "format", "contentEncoding"} {
		if v, ok := s[key]; ok {
			text += fmt.Sprintf(" %v", v)
		}
	}
	return text
}

// TestCompatible: every field of version 1 still exists with its original type and unit. docs/schemas/v1.txt is written by hand: a new field adds a line, and
// no line is changed or removed while messages have v 1.
func TestCompatible(t *testing.T) {
	var now []string
	for _, kind := range slices.Sorted(maps.Keys(schemas(t))) {
		now = append(now, flat(kind, schemas(t)[kind])...)
	}
	file, err := os.Open(filepath.Join(root, "docs", "schemas", fmt.Sprintf("v%d.txt", latent.Version)))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	frozen := map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := lines.Text()
		if frozen[line] = true; !slices.Contains(now, line) {
			t.Errorf("a field vanished or changed its meaning, and dashboards depend on it: %s", line)
		}
	}
	for _, line := range now {
		if !frozen[line] {
			t.Errorf("a new field, or one that changed: if it is new, add this line to %s: %s", file.Name(), line)
		}
	}
	if len(frozen) < 50 {
		t.Errorf("%d fields, expected the whole interface", len(frozen))
	}
}

// TestMessagesMatch: the messages of the sinks match the schemas, both with all fields set and with nothing known yet.
func TestMessagesMatch(t *testing.T) {
	now := time.Now()
	full := &latent.Estimate{
		Latent: latent.Latent{Time: now, Mean: []float64{1, math.NaN()}, SD: []float64{1, 1}, Centroid: []float64{1, 2}},
		Drift:  []float64{0, 0}, Filtered: []float64{0, 0}, FilteredSD: []float64{0, 0}, NIS: math.Inf(1),
		Horizons: []float64{1}, Forecast: []float64{1, 2}, ForecastSD: []float64{1, 2},
		SDE: latent.SDE{
			Revision: 1, Sigma: []float64{1, 2}, Activity: []latent.Activity{latent.Active, latent.Undecided}, CRLB: math.NaN(),
			Units: latent.Units{Calibration: latent.Calibrated, R2: []float64{1, 1}, PixelsPerLatentX: []float64{1, 1}, PixelsPerLatentY: []float64{1, 1}, UM: latent.Spread{D: 1}},
			Field: &latent.Field{Axes: []int{0}, Z: [][]float64{{1}}, Drift: [][]float64{{1}}, SD: [][]float64{{1}}, Scarce: []bool{true}},
		},
	}
	path := filepath.Join(t.TempDir(), "out.jsonl")
	options, err := config.NewComponent("jsonl", map[string]any{"path": path})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sinks.New("jsonl", options.Decode, sinks.Env{Stream: "bead"})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []latent.Message{
		full, &latent.Estimate{SDE: latent.SDE{Revision: 2}}, &latent.Event{Level: latent.Warning}, &latent.Health{},
		&latent.Trigger{}, &latent.Trigger{Name: "well", On: true, Value: math.NaN(), Filtered: []float64{1, math.NaN()}, Centroid: []float64{1, 2}},
		&latent.Health{Dropped: map[string]uint64{"paused": 1}, Stages: []latent.Stage{{Name: "read"}}}, &latent.View{Preview: []byte{1}},
		&latent.View{Preview: []byte{1}, Reconstruction: []byte{2}, Region: &latent.Region{X: 1}, Whole: []byte{3}},
	} {
		if err := s.Write(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := schemas(t)
	kinds := map[string]int{}
	for line := range bytes.Lines(text) {
		var m object
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		kind := m["kind"].(string)
		kinds[kind]++
		for _, p := range violations(kind, all[kind], m) {
			t.Errorf("%s in %s", p, line)
		}
	}
	if !maps.Equal(kinds, map[string]int{"latent": 2, "sde": 2, "event": 1, "health": 2, "view": 2, "trigger": 2}) {
		t.Errorf("found %v", kinds)
	}
	broken := object{"v": 2.0, "kind": "event", "stream": 1.0, "level": "fatal", "count": "3"}
	if found := violations("event", all["event"], broken); len(found) != 8 { // v, stream, level, count, and four missing fields
		t.Errorf("a wrong message has these violations: %q", found)
	}
}

// violations checks v against the keywords of JSON Schema that these files use.
func violations(path string, s object, v any) (found []string) {
	bad := func(format string, args ...any) { found = append(found, path+": "+fmt.Sprintf(format, args...)) }
	if want, ok := s["const"]; ok && !reflect.DeepEqual(want, v) {
		bad("found %v, expected %v", v, want)
	}
	if want, ok := s["enum"].([]any); ok && !slices.Contains(want, v) {
		bad("found %v, expected one of %v", v, want)
	}
	if want, ok := s["type"]; ok && !slices.ContainsFunc(typesOf(v), func(t string) bool { return strings.Contains(fmt.Sprint(want), t) }) {
		bad("found %T, expected %v", v, want)
	}
	switch v := v.(type) {
	case object:
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				bad("%s is missing", name)
			}
		}
		properties, _ := s["properties"].(object)
		for name, value := range v {
			if p, ok := properties[name].(object); ok {
				found = append(found, violations(path+"."+name, p, value)...)
			} else if more, ok := s["additionalProperties"].(object); ok {
				found = append(found, violations(path+"."+name, more, value)...)
			} else {
				bad("%s is in no schema", name)
			}
		}
	case []any:
		for _, item := range v {
			found = append(found, violations(path+"[]", s["items"].(object), item)...)
		}
	}
	return found
}

// typesOf returns the JSON Schema types of a value.
func typesOf(v any) []string {
	switch v := v.(type) {
	case nil:
		return []string{"null"}
	case bool:
		return []string{"boolean"}
	case string:
		return []string{"string"}
	case float64:
		if v == math.Trunc(v) {
			return []string{"integer", "number"}
		}
		return []string{"number"}
	case []any:
		return []string{"array"}
	}
	return []string{"object"}
}

// TestReferences: every reference in the AsyncAPI document has a target.
func TestReferences(t *testing.T) {
	files := generated(t)
	var document object
	if err := json.Unmarshal(files["asyncapi.json"], &document); err != nil {
		t.Fatal(err)
	}
	n := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case object:
			if to, ok := v["$ref"].(string); ok {
				n++
				if name, ok := strings.CutPrefix(to, "./"); ok {
					if files[name] == nil {
						t.Errorf("%s is no file", to)
					}
				} else if !reaches(document, strings.Split(strings.TrimPrefix(to, "#/"), "/")) {
					t.Errorf("%s leads nowhere", to)
				}
			}
			for _, value := range v {
				walk(value)
			}
		case []any:
			for _, value := range v {
				walk(value)
			}
		}
	}
	walk(document)
	if n < 60 {
		t.Errorf("%d references, expected those of all messages and commands", n)
	}
}

func reaches(at object, path []string) bool {
	next, ok := at[path[0]].(object)
	return ok && (len(path) == 1 || reaches(next, path[1:]))
}
