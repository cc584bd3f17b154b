package message

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
)

// TestFieldWireFormat: the bytes of a field's messages. No latent where no object is followed.
func TestFieldWireFormat(t *testing.T) {
	want := []string{
		`{"v":1,"kind":"objects","stream":"dish","seq":6,"time":"2026-05-06T10:00:00.123456789Z","latency_ms":1.5,"width_px":640,"height_px":480,"pixel_um":0.25,"id":[3,18446744073709551615],"x_px":[0.5000,639.1235],"y_px":[7.0000,0.0000],"sd_px":[0.1,0.25],"diffusion_px2_s":[null,2.5],"doubt":[0.5,0],"p_link":[null,0.75],"marks":[9,4],"state":[[0.25,null],[0.75,null]],"left_out":2,"earlier":{"seq":[5],"id":[3],"x_px":[1.0000],"y_px":[2.0000],"sd_px":[0.5],"filled":[true]},"swaps":{"id":[3],"other":[18446744073709551615],"since_seq":[4],"p_swap":[0.25]}}`,
		`{"v":1,"kind":"track","stream":"dish","seq":7,"time":"2026-05-06T10:00:00.123456789Z","id":3,"change":"ended","why":"not seen again","first_seq":1,"last_seq":5,"frames":4,"x_px":1,"y_px":2,"path_px":9,"velocity_px_s":[0.5,-0.5],"directed":true,"diffusion_px2_s":4,"diffusion_px2_s_low":0,"diffusion_px2_s_high":6,"diffusion_um2_s":0.25,"diffusion_um2_s_low":0,"diffusion_um2_s_high":0.375,"diffusion_shrunk_px2_s":3.5,"diffusion_shrunk_px2_s_low":1,"diffusion_shrunk_px2_s_high":5,"state":[0.125,0.875],"motion":{"class":"free","stuck":0,"free":0.75,"confined":0.25,"directed":0,"anomalous":0,"alpha":1.125,"alpha_low":0.5,"alpha_high":1.5,"radius_px":null,"speed_px_s":null}}`,
		`{"v":1,"kind":"population","stream":"dish","seq":8,"time":"2026-05-06T10:00:00.123456789Z","count":2,"spots":3,"density_px":0.001,"births":5,"deaths":3,"links_wrong":0.125,"links_unknown":0,"links_wrong_faster":0.0625,"links_wrong_slower":0.25,"directed":1,"detected":0.9,"template_px":1.5,"tracks":5,"steps":40,"diffusion_px2_s":4,"diffusion_px2_s_low":3,"diffusion_px2_s_high":null,"noise_px":0.125,"spectrum_px2_s":[0.1,1],"spectrum":[0.25,0.75],"common_velocity_px_s":[1,-1],"common_velocity_sd_px_s":0.5,"common_shift_px":[10,-10],"law":{"seq":7,"tracks":7,"steps":35,"state_px2_s":[0.5,8],"state_px2_s_low":[0,4],"state_px2_s_high":[1,16],"state_um2_s":[0.125,2],"state_um2_s_low":[0,1],"state_um2_s_high":[0.25,4],"share":[0.25,0.75],"share_low":[0.125,0.5],"share_high":[0.5,0.875],"spread":0.5,"spread_low":0.25,"spread_high":0.75,"switching_s":[0,0.5,0.25,0],"switching_nats":12,"says":"2 states"},"pairs":{"distance_px":[4,8],"force_px_s":[1,-0.5],"force_px_s_low":[0.5,-1],"force_px_s_high":[1.5,0],"pairs":[100,200],"nats":-3},"map_seq":7,"map":{"x_px":[16,48],"y_px":[16,16],"width_px":[32,32],"drift_x_px_s":[1,-1],"drift_y_px_s":[0.5,0.25],"drift_sd_px_s":[0.125,0.25],"diffusion_px2_s":[4,5],"diffusion_sd_px2_s":[0.5,0.75],"steps":[300,400],"says":["a trap at 32, 16"]}}`,
	}
	_, got := sinktest.Lines(t, (&Encoder{Stream: "dish"}).Encode, sinktest.Field(6), sinktest.Track(7), sinktest.Population(8))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("found\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	followed := sinktest.Estimate(9, 1)
	followed.Objects = sinktest.Field(9).Objects
	kinds, _ := sinktest.Lines(t, (&Encoder{Stream: "dish"}).Encode, followed)
	if want := []latent.Kind{latent.KindObjects, latent.KindLatent, latent.KindSDE}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("a followed object gives %v, expected %v", kinds, want)
	}
}

// TestObjectsAreRead: what is written is read back, and has every field that the record has.
func TestObjectsAreRead(t *testing.T) {
	kinds, lines := sinktest.Lines(t, (&Encoder{Stream: "dish"}).Encode, sinktest.Field(6), sinktest.Track(7), sinktest.Population(8))
	for i, line := range lines {
		r, err := Decode(kinds[i], []byte(line))
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var a, b map[string]any
		if json.Unmarshal(again, &a) != nil || json.Unmarshal([]byte(line), &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("read back as\n%s\nwritten as\n%s", again, line)
		}
	}
	r, _ := Decode(kinds[0], []byte(lines[0]))
	o := r.(*ObjectsRecord)
	if !math.IsNaN(o.D[0]) || o.ID[1] != math.MaxUint64 || o.Marks[0] != latent.Predicted|latent.Doubtful || !o.Earlier.Filled[0] {
		t.Errorf("%+v", o)
	}
}

// TestObjectsRefused: columns that do not fit together, and more than a field may have.
func TestObjectsRefused(t *testing.T) {
	_, lines := sinktest.Lines(t, (&Encoder{Stream: "dish"}).Encode, sinktest.Field(6), sinktest.Track(7), sinktest.Population(8))
	many := "[" + strings.Repeat("0,", MaxObjects) + "0]"
	for _, c := range []struct{ line, from, to, want string }{
		{lines[0], `"x_px":[0.5000,`, `"x_px":[`, "one entry an object"},
		{lines[0], `"marks":[9,4]`, `"marks":[9]`, "one entry an object"},
		{lines[0], `"filled":[true]`, `"filled":[]`, "one entry an object"},
		{lines[0], `"marks":[9,4]`, `"marks":[9,-1]`, "not a driftscope message"},
		{lines[0], `"sd_px":[0.1,0.25]`, `"sd_px":` + many, "at most 65536"},
		{lines[1], `"why":"not seen again"`, `"why":"` + strings.Repeat("y", maxText+1) + `"`, "text of 4097 bytes"},
		{lines[2], `"spectrum":[0.25,0.75]`, `"spectrum":[0.25]`, "lists of"},
	} {
		bad := strings.Replace(c.line, c.from, c.to, 1)
		if bad == c.line {
			t.Fatalf("%s is not in %s", c.from, c.line)
		}
		var of Header
		if json.Unmarshal([]byte(bad), &of) != nil {
			t.Fatal(bad)
		}
		if _, err := Decode(of.Kind, []byte(bad)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: %v, expected %q", c.to, err, c.want)
		}
	}
}

// TestColumnsAreRead: a column is an array of numbers, null where one is not finite, and nothing else that JSON has.
func TestColumnsAreRead(t *testing.T) {
	for text, want := range map[string]Column{`[]`: {}, `[ ]`: {}, `null`: nil, `[1]`: {1}, ` [ 1 , -2.5e3,0 ]`: {1, -2500, 0}, `[0.1234567890123456789]`: {0.1234567890123456789}} {
		var got Column
		if err := json.Unmarshal([]byte(text), &got); err != nil || !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	var got Column
	if err := json.Unmarshal([]byte(`[1,null,3]`), &got); err != nil || len(got) != 3 || got[0] != 1 || !math.IsNaN(got[1]) || got[2] != 3 {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{`{}`, `1`, `"[1]"`, `[1,[2]]`, `[true]`, `["1"]`, `["1,2"]`, `[{"a":1}]`, `[1e999]`, `[NaN]`, `[1,]`, `[+1]`, `[0x10]`} {
		if err := json.Unmarshal([]byte(text), new(Column)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}

// TestObjectsAllocateNothing: once its memory is there, an Encoder writes objects without more.
func TestObjectsAllocateNothing(t *testing.T) {
	e, m := &Encoder{Stream: "dish"}, sinktest.Field(6)
	emit := func(latent.Kind, []byte) error { return nil }
	if n := testing.AllocsPerRun(50, func() {
		if err := e.Encode(m, emit); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%g allocations a frame", n)
	}
}

// TestLooksAreWritten: the latents of what objects look like are a column a latent, not numbers where one was not detected; they are read back, without new
// memory a frame, and refused where columns are missing.
func TestLooksAreWritten(t *testing.T) {
	m := sinktest.Field(6)
	o := m.Objects
	o.Latents, o.Z, o.ZSD = 2, []float64{math.NaN(), math.NaN(), 1.5, -2}, []float64{math.NaN(), math.NaN(), 0.1, 0.2}
	e := &Encoder{Stream: "dish"}
	_, lines := sinktest.Lines(t, e.Encode, m)
	const want = `"marks":[9,4],"state":[[0.25,null],[0.75,null]],"z":[[null,1.5],[null,-2]],"z_sd":[[null,0.1],[null,0.2]],"left_out":2`
	if !strings.Contains(lines[0], want) {
		t.Errorf("found\n%s\nexpected in it\n%s", lines[0], want)
	}
	r, err := Decode(latent.KindObjects, []byte(lines[0]))
	if err != nil {
		t.Fatal(err)
	}
	if back := r.(*ObjectsRecord); len(back.Z) != 2 || !math.IsNaN(back.Z[1][0]) || back.Z[1][1] != -2 || back.ZSD[0][1] != 0.1 {
		t.Errorf("read back as %v, %v", back.Z, back.ZSD)
	}
	emit := func(latent.Kind, []byte) error { return nil }
	if n := testing.AllocsPerRun(50, func() { e.Encode(m, emit) }); n != 0 {
		t.Errorf("%g allocations a frame", n)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"z":[[null,1.5],`, `"z":[`, "1 columns z, 2 z_sd"},
		{`"z":[[null,1.5],`, `"z":[[1.5],`, "one entry an object"},
		{`"z":[`, `"z":[` + strings.Repeat("[0,0],", MaxLatent), "66 columns z, 2"},
	} {
		if _, err := Decode(latent.KindObjects, []byte(strings.Replace(lines[0], c.from, c.to, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: %v, expected %q", c.to, err, c.want)
		}
	}
	o.ID, o.X, o.Y, o.SD, o.D, o.Doubt, o.Marks, o.State, o.Z, o.ZSD = nil, nil, nil, nil, nil, nil, nil, nil, nil, nil
	if _, lines = sinktest.Lines(t, e.Encode, m); !strings.Contains(lines[0], `"z":[[],[]]`) {
		t.Errorf("a frame without objects: %s", lines[0])
	}
}

// TestPopulationRefused: lists of a population's law that do not fit together, and more than a message may have.
func TestPopulationRefused(t *testing.T) {
	_, lines := sinktest.Lines(t, (&Encoder{Stream: "dish"}).Encode, sinktest.Population(8))
	for _, c := range []struct{ from, to, want string }{
		{`"share":[0.25,0.75]`, `"share":[0.25]`, "lists of"},
		{`"switching_s":[0,0.5,0.25,0]`, `"switching_s":[0,0.5,0.25,0,1]`, "5 rates"},
		{`"says":"2 states"`, `"says":"` + strings.Repeat("x", maxText+1) + `"`, "a sentence of 4097 bytes"},
		{`"pairs":[100,200]`, `"pairs":[100]`, "pairs: columns of"},
		{`"x_px":[16,48]`, `"x_px":[16]`, "map: columns of"},
		{`"says":["a trap`, `"says":["` + strings.Repeat("x", maxText+1) + `", "a trap`, "map: a sentence of 4097"},
	} {
		if _, err := Decode(latent.KindPopulation, []byte(strings.Replace(lines[0], c.from, c.to, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: %v, expected %q", c.to, err, c.want)
		}
	}
}

// TestMapOfManyCells: a map and a force have as many entries as a drift field may have, and not one more.
func TestMapOfManyCells(t *testing.T) {
	for _, c := range []struct {
		cells int
		want  string
	}{{MaxField, ""}, {MaxField + 1, "found 4097 numbers, expected at most 4096"}} {
		p, many := *sinktest.Population(8), make([]float64, c.cells)
		p.Map = &latent.FieldMap{X: many, Y: many, Width: many, VX: many, VY: many, SD: many, D: many, DSD: many, Steps: many}
		p.Pairs = &latent.Pairs{Distance: many, Force: many, Low: many, High: many, Count: many}
		_, lines := sinktest.Lines(t, (&Encoder{Stream: "dish"}).Encode, &p)
		r, err := Decode(latent.KindPopulation, []byte(lines[0]))
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%d cells: %v, expected %q", c.cells, err, c.want)
			}
			continue
		}
		if err != nil || len(r.(*PopulationRecord).Map.Steps) != c.cells || len(r.(*PopulationRecord).Pairs.Force) != c.cells {
			t.Errorf("%d cells are not read: %v", c.cells, err)
		}
	}
}
