package file

import (
	"encoding/binary"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"driftscope/ingest/zarr"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
)

// place is the position of a node.
type place struct{ x, y float64 }

// walk writes 500 tracks over 100 frames, some born late, some with a gap that is filled afterwards. It returns their positions by particle and frame.
func walk(t *testing.T, s sink) map[uint64]map[uint64]place {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 5))
	truth := map[uint64]map[uint64]place{}
	const tracks, frames = 500, 100
	born, hole := make([]uint64, tracks), make([]uint64, tracks)
	for i := range tracks {
		born[i], hole[i] = random.Uint64N(60), 70+random.Uint64N(10)
		truth[uint64(i+1)] = map[uint64]place{}
	}
	for seq := range uint64(frames) {
		e := sinktest.Field(seq)
		e.Latent.Time = sinktest.Noon.Add(time.Duration(seq) * 20 * time.Millisecond)
		o := e.Objects
		o.Reset()
		o.Width, o.Height, o.PixelUM, o.States = 640, 480, 0.25, 0
		for i := range tracks {
			id := uint64(i + 1)
			at := place{640 * random.Float64(), 480 * random.Float64()}
			if seq < born[i] || i%2 == 0 && seq == hole[i] {
				continue
			}
			earlier := func(seq uint64, filled bool) {
				p := place{at.x - 0.1, at.y + 0.1}
				o.Earlier, truth[id][seq] = append(o.Earlier, latent.Place{Seq: seq, ID: id, X: p.x, Y: p.y, SD: 0.3, Filled: filled}), p
			}
			if seq == born[i] && seq > 0 {
				earlier(seq-1, false)
			}
			if i%2 == 0 && seq == hole[i]+1 {
				earlier(seq-1, true)
			}
			truth[id][seq] = at
			o.ID, o.X, o.Y, o.SD, o.D = append(o.ID, id), append(o.X, at.x), append(o.Y, at.y), append(o.SD, 0.1), append(o.D, 2)
			o.LocX, o.LocY, o.Doubt, o.Marks = append(o.LocX, at.x+0.5), append(o.LocY, at.y), append(o.Doubt, 0.25), append(o.Marks, 0)
			o.Link = append(o.Link, 0.75)
		}
		if err := s.Write(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for id := range uint64(tracks) {
		m := sinktest.Track(frames)
		m.ID = id + 1
		if err := s.Write(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	sinktest.Close(t, s)
	return truth
}

// TestGEFF: 500 tracks are read back exactly from a graph of several chunks, and its metadata obeys the published schema.
func TestGEFF(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tracks.geff")
	s, err := NewGEFF(sinktest.Decoder(t, map[string]any{"path": path}), "bead", silent)
	if err != nil {
		t.Fatal(err)
	}
	truth := walk(t, s)
	read := func(name string) []uint64 { return array(t, filepath.Join(path, name)) }
	frames, particles, xs, ys := read("nodes/props/t/values"), read("nodes/props/particle/values"), read("nodes/props/x/values"), read("nodes/props/y/values")
	if len(frames) <= zarr.ChunkRows {
		t.Fatalf("%d nodes fit in one chunk", len(frames))
	}
	found := map[uint64]map[uint64]place{}
	for i, id := range read("nodes/ids") {
		if id != uint64(i) {
			t.Fatalf("node %d has the number %d", i, id)
		}
		if found[particles[i]] == nil {
			found[particles[i]] = map[uint64]place{}
		}
		found[particles[i]][frames[i]] = place{math.Float64frombits(xs[i]), math.Float64frombits(ys[i])}
	}
	if !reflect.DeepEqual(found, truth) {
		t.Error("the places differ")
	}
	edges := read("edges/ids")
	if len(edges)/2 != len(frames)-500 {
		t.Errorf("%d edges of %d nodes in 500 tracks", len(edges)/2, len(frames))
	}
	for i := 0; i < len(edges); i += 2 {
		a, b := edges[i], edges[i+1]
		if particles[a] != particles[b] || frames[b] != frames[a]+1 {
			t.Fatalf("an edge from frame %d of %d to frame %d of %d", frames[a], particles[a], frames[b], particles[b])
		}
	}
	if d := read("tracks/props/diffusion_high/values"); len(d) != 500 || math.Float64frombits(d[0]) != 6 {
		t.Errorf("%d tracks", len(d))
	}
	if c := read("nodes/props/covariance/values"); len(c) != 4*len(frames) {
		t.Errorf("%d numbers of covariances", len(c))
	}
	var attributes map[string]any
	document(t, filepath.Join(path, ".zattrs"), &attributes)
	meta := attributes["geff"].(map[string]any)
	for of, key := range map[string]string{"nodes": "node_props_metadata", "edges": "edge_props_metadata"} {
		described := meta[key].(map[string]any)
		entries, err := os.ReadDir(filepath.Join(path, of, "props"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() && described[e.Name()] == nil {
				t.Errorf("%s: %s has no metadata", of, e.Name())
			}
			delete(described, e.Name())
		}
		if len(described) > 0 {
			t.Errorf("%s: metadata of %v, which are not there", of, described)
		}
	}
	folder := os.Getenv("DRIFTSCOPE_DATA")
	if folder == "" {
		t.Skip("DRIFTSCOPE_DATA is unset: the published schema is beside it")
	}
	var schema map[string]any
	document(t, filepath.Join(folder, "../peers/geff/geff-schema.json"), &schema)
	document(t, filepath.Join(path, ".zattrs"), &attributes)
	if problem := conform(schema, schema, attributes); problem != "" {
		t.Error(problem)
	}
	delete(attributes["geff"].(map[string]any), "directed")
	if conform(schema, schema, attributes) == "" {
		t.Error("the check finds no missing key")
	}
}

// conform checks v with the part of JSON Schema that GEFF's schema uses, and returns the first problem.
func conform(root, schema map[string]any, v any) string {
	if ref, ok := schema["$ref"].(string); ok {
		return conform(root, root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any), v)
	}
	if some, ok := schema["anyOf"].([]any); ok {
		problem := ""
		for _, s := range some {
			if problem = conform(root, s.(map[string]any), v); problem == "" {
				return ""
			}
		}
		return problem
	}
	kind := "null"
	switch v.(type) {
	case string:
		kind = "string"
	case bool:
		kind = "boolean"
	case float64:
		kind = "number"
	case []any:
		kind = "array"
	case map[string]any:
		kind = "object"
	}
	if want, ok := schema["type"].(string); ok && want != kind {
		return fmt.Sprintf("%v is a %s, expected a %s", v, kind, want)
	}
	if enum, ok := schema["enum"].([]any); ok {
		for _, e := range enum {
			if e == v {
				return ""
			}
		}
		return fmt.Sprintf("%v is none of %v", v, enum)
	}
	if pattern, ok := schema["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(v.(string)) {
		return fmt.Sprintf("%v does not match %s", v, pattern)
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if items, ok := schema["items"].(map[string]any); ok {
				if problem := conform(root, items, e); problem != "" {
					return problem
				}
			}
		}
	case map[string]any:
		required, _ := schema["required"].([]any)
		for _, key := range required {
			if _, ok := v[key.(string)]; !ok {
				return fmt.Sprintf("%v is missing", key)
			}
		}
		properties, _ := schema["properties"].(map[string]any)
		more, _ := schema["additionalProperties"].(map[string]any)
		names, _ := schema["propertyNames"].(map[string]any)
		for key, e := range v {
			if names != nil {
				if problem := conform(root, names, key); problem != "" {
					return problem
				}
			}
			s, ok := properties[key].(map[string]any)
			if !ok {
				s = more
			}
			if problem := conform(root, s, e); problem != "" {
				return key + ": " + problem
			}
		}
	}
	return ""
}

func document(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// array reads an array with eight bytes per number, chunk by chunk, without the package that wrote it.
func array(t *testing.T, folder string) (all []uint64) {
	t.Helper()
	var meta struct {
		Shape, Chunks []int
		Dtype         string
	}
	document(t, filepath.Join(folder, ".zarray"), &meta)
	width := 1
	for _, n := range meta.Shape[1:] {
		width *= n
	}
	for k := 0; k*meta.Chunks[0] < meta.Shape[0]; k++ {
		data, err := os.ReadFile(filepath.Join(folder, strconv.Itoa(k)+strings.Repeat(".0", len(meta.Shape)-1)))
		if err != nil || len(data) != 8*meta.Chunks[0]*width {
			t.Fatalf("%s: chunk %d of %d bytes, %v", folder, k, len(data), err)
		}
		for i := range min(meta.Chunks[0], meta.Shape[0]-k*meta.Chunks[0]) * width {
			all = append(all, binary.LittleEndian.Uint64(data[8*i:]))
		}
	}
	return all
}

// TestTrackMate: 500 tracks are read back exactly from the XML, in which lengths are in µm.
func TestTrackMate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tracks.xml")
	s, err := NewTrackMate(sinktest.Decoder(t, map[string]any{"path": path}), silent)
	if err != nil {
		t.Fatal(err)
	}
	truth := walk(t, s)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type spot struct {
		ID    int     `xml:"ID,attr"`
		Name  uint64  `xml:"name,attr"`
		Frame uint64  `xml:"FRAME,attr"`
		X     float64 `xml:"POSITION_X,attr"`
		Y     float64 `xml:"POSITION_Y,attr"`
		T     float64 `xml:"POSITION_T,attr"`
	}
	var file struct {
		Model struct {
			Unit     string `xml:"spatialunits,attr"`
			AllSpots struct {
				N      int `xml:"nspots,attr"`
				Frames []struct {
					Frame uint64 `xml:"frame,attr"`
					Spots []spot `xml:"Spot"`
				} `xml:"SpotsInFrame"`
			}
			AllTracks struct {
				Tracks []struct {
					Name  string  `xml:"name,attr"`
					D     float64 `xml:"DIFFUSION,attr"`
					Edges []struct {
						From int    `xml:"SPOT_SOURCE_ID,attr"`
						To   int    `xml:"SPOT_TARGET_ID,attr"`
						Cost string `xml:"LINK_COST,attr"`
					} `xml:"Edge"`
				} `xml:"Track"`
			}
		}
	}
	if err := xml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	found, spots := map[uint64]map[uint64]place{}, map[int]spot{}
	for _, f := range file.Model.AllSpots.Frames {
		for _, s := range f.Spots {
			if s.Frame != f.Frame || math.Abs(s.T-0.02*float64(s.Frame)) > 1e-9 { // rounding of 100 intervals
				t.Fatalf("frame %d holds %+v", f.Frame, s)
			}
			if found[s.Name] == nil {
				found[s.Name] = map[uint64]place{}
			}
			found[s.Name][s.Frame], spots[s.ID] = place{4 * s.X, 4 * s.Y}, s // a pixel is a quarter of a µm, which is exact in binary
		}
	}
	if file.Model.Unit != "micron" || len(spots) != file.Model.AllSpots.N || !reflect.DeepEqual(found, truth) {
		t.Errorf("%d spots of %d in %s, or other places", len(spots), file.Model.AllSpots.N, file.Model.Unit)
	}
	edges, costs := 0, map[string]int{}
	for _, track := range file.Model.AllTracks.Tracks {
		for k, e := range track.Edges {
			from, to := spots[e.From], spots[e.To]
			if from.Name != to.Name || to.Frame != from.Frame+1 || track.Name != fmt.Sprintf("Track_%d", to.Name) || track.D != 4./16 {
				t.Fatalf("%s: edge %d from %+v to %+v", track.Name, k, from, to)
			}
			edges++
			costs[e.Cost]++
		}
	}
	if costs["0.25"] == 0 || costs["NaN"] == 0 || len(costs) != 2 { // p_link is 0.75; unknown for filled places
		t.Errorf("costs of links: %v", costs)
	}
	if edges != len(spots)-500 || len(file.Model.AllTracks.Tracks) != 500 {
		t.Errorf("%d edges of %d spots in %d tracks", edges, len(spots), len(file.Model.AllTracks.Tracks))
	}
}

// TestGraphRefused: an existing file is not overwritten, and the error names a missing folder.
func TestGraphRefused(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"a.geff", "a.xml", "b.geff" + partial, "b.xml" + partial} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"a": "give another path", "b": "was killed", "none/c": "check the folder"} {
		_, geff := NewGEFF(sinktest.Decoder(t, map[string]any{"path": filepath.Join(folder, name+".geff")}), "bead", silent)
		_, track := NewTrackMate(sinktest.Decoder(t, map[string]any{"path": filepath.Join(folder, name+".xml")}), silent)
		for _, err := range []error{geff, track} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, expected %s", name, err, want)
			}
		}
	}
}

// TestGraphNothing: a run without positions leaves an empty graph, like a table with only a header. A position out of order is reported.
func TestGraphNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.geff")
	s, err := NewGEFF(sinktest.Decoder(t, map[string]any{"path": path}), "bead", silent)
	if err != nil {
		t.Fatal(err)
	}
	sinktest.Close(t, s)
	if n := array(t, filepath.Join(path, "edges/ids")); len(n) != 0 {
		t.Errorf("%d edges", len(n))
	}
	if s, err = NewGEFF(sinktest.Decoder(t, map[string]any{"path": path + "2.geff"}), "bead", silent); err != nil {
		t.Fatal(err)
	}
	for _, seq := range []uint64{5, 4} {
		e := sinktest.Estimate(seq, 1)
		e.Latent.Trajectory, e.Latent.Centroid = 1, []float64{1, 2}
		if err := s.Write(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "1 positions arrived after") {
		t.Errorf("found %v", err)
	}
}
