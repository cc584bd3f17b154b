package main

import (
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/infer"
	"driftscope/internal/flow/frame"
	"driftscope/internal/job/evaluation"
	"driftscope/internal/job/reach"
	"driftscope/internal/job/recording"
	"driftscope/internal/suite"
)

// sampleWith samples a film with the shipped model and returns the folder and its truth.
func sampleWith(t *testing.T, c sampleCmd) (string, *evaluation.Truth) {
	t.Helper()
	c.Model, c.Out = "embedded:molecule", filepath.Join(t.TempDir(), "film")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(c.Out, "truth.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	truth, err := evaluation.ParseTruth(file)
	if err != nil {
		t.Fatal(err)
	}
	return c.Out, truth
}

func TestSample(t *testing.T) {
	folder, truth := sampleWith(t, sampleCmd{Frames: 30, Seed: 3, Bridge: "learned", DT: 0.5})
	model, err := reach.OpenModel("embedded:molecule")
	if err != nil {
		t.Fatal(err)
	}
	if n, d := truth.Z.Dims(); n != 30 || d != model.Card.Latent || truth.Mu == nil || !slices.Equal(truth.Z.RawRowView(0), model.Card.Mean) {
		t.Errorf("%d latents of %d coordinates from %v, expected 30 with their drift from %v", n, d, truth.Z.RawRowView(0), model.Card.Mean)
	}

	encoder, err := model.NewEncoder()
	if err != nil {
		t.Fatal(err)
	}
	defer encoder.Close()
	rec, err := recording.Open(folder, 0, 0, "", recording.Whole)
	if err != nil {
		t.Fatal(err)
	}
	in, read := model.Card.Input, 0
	want := make([]float32, in.Channels*in.Height*in.Width)
	timed, err := rec.Each(t.Context(), nil, func(f *frame.Frame) error {
		if at := 0.5 * float64(f.Seq); math.Abs(recording.Seconds(f)-at) > 1e-9 {
			t.Errorf("frame %d at %g s, expected %g", f.Seq, recording.Seconds(f), at)
		}
		if err := encoder.Decode(want, truth.Z.RawRowView(int(f.Seq))); err != nil {
			return err
		}
		g, err := recording.Grey(f)
		for i, v := range g.Pixels { // one channel, so that both have the same order
			if math.Abs(float64(v-255*want[i])) > 0.501 {
				t.Fatalf("frame %d, pixel %d: %g of 255, the decoder says %g", f.Seq, i, v, 255*want[i])
			}
		}
		read++
		return err
	})
	if err != nil || !timed || read != 30 {
		t.Errorf("%v: read %d frames, timed %t", err, read, timed)
	}

	sheet, err := os.Open(folder + "-sheet.png")
	if err != nil {
		t.Fatal(err)
	}
	defer sheet.Close()
	if c, err := png.DecodeConfig(sheet); err != nil || c.Width != 8*(in.Width+1)-1 || c.Height != 3*(in.Height+1)-1 {
		t.Errorf("the sheet is %dx%d (%v), expected three rows of eight", c.Width, c.Height, err)
	}
}

func TestSampleFromAndBetween(t *testing.T) {
	model, err := reach.OpenModel("embedded:molecule")
	if err != nil {
		t.Fatal(err)
	}
	rec, err := recording.Open("sim:molecule", 0, 0, "", recording.Span{From: 0, To: 41})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := evaluation.EncodeAll(t.Context(), model, rec)
	if err != nil {
		t.Fatal(err)
	}
	const a, b = 40, 25 // a bridge may run backwards
	start := uint64(a)
	_, from := sampleWith(t, sampleCmd{Video: "sim:molecule", Start: &start, Frames: 5, Bridge: "learned"})
	if !slices.Equal(from.Z.RawRowView(0), seen.Z.RawRowView(a)) {
		t.Errorf("it begins at %v, frame %d is at %v", from.Z.RawRowView(0), a, seen.Z.RawRowView(a))
	}
	for _, kind := range []string{"learned", "brownian"} {
		_, truth := sampleWith(t, sampleCmd{Video: "sim:molecule", Between: "40, 25", Bridge: kind})
		if n, _ := truth.Z.Dims(); n != 16 || truth.Mu != nil || !slices.Equal(truth.Z.RawRowView(0), seen.Z.RawRowView(a)) || !slices.Equal(truth.Z.RawRowView(15), seen.Z.RawRowView(b)) {
			t.Errorf("%s: %d latents from %v to %v, expected 16 without drift from %v to %v", kind, n, truth.Z.RawRowView(0), truth.Z.RawRowView(n-1), seen.Z.RawRowView(a), seen.Z.RawRowView(b))
		}
	}
}

func TestSampleRepeats(t *testing.T) {
	for name, c := range map[string]sampleCmd{"path": {Frames: 4, Bridge: "learned"}, "bridge": {Frames: 4, Video: "sim:molecule", Between: "0,9", Bridge: "learned"}} {
		var films [3][]byte
		for i, seed := range []uint64{7, 7, 8} {
			c.Seed = seed
			folder, _ := sampleWith(t, c)
			for _, file := range []string{"frames.csv", "truth.csv", "frame_0000002.png"} {
				films[i] = append(films[i], suite.Content(t, folder, file)...)
			}
		}
		if !slices.Equal(films[0], films[1]) || slices.Equal(films[0], films[2]) {
			t.Errorf("%s: equal seeds must give equal bytes, and others others", name)
		}
	}
}

func TestSampleRefusesModels(t *testing.T) {
	load := func() *infer.Model {
		m, err := reach.OpenModel("embedded:molecule")
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	lawless, clocked := load(), load()
	lawless.Card.Drift, clocked.Card.Clock = nil, 10
	for want, m := range map[string]*infer.Model{"has no decoder": {}, "has no drift": lawless, "depends on time": clocked} {
		if _, err := (&sampleCmd{Bridge: "learned"}).law(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected one with %q", err, want)
		}
		law, err := (&sampleCmd{Bridge: brownian}).law(m)
		if m.HasDecoder() && (err != nil || law.Drift != nil) {
			t.Errorf("%s: a Brownian bridge needs no drift: %v", want, err)
		}
	}
}

func TestSampleMistakes(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	if o := drive(t, folder, "simulate", "molecule", "--frames", "3", "--out", "three"); o.status != 0 {
		t.Fatal(o.errors)
	}
	for want, args := range map[string][]string{
		`expected two frame numbers A,B`:              {"--video", "sim:molecule", "--between", "3"},
		`that differ`:                                 {"--video", "sim:molecule", "--between", "3,3"},
		"give it with --video":                        {"--start", "3"},
		"which of its frames":                         {"--video", "sim:molecule"},
		"both set the beginning":                      {"--video", "sim:molecule", "--start", "3", "--between", "3,4"},
		"a bridge has two ends":                       {"--bridge", "brownian"},
		"--frames: found 1,":                          {"--frames", "1"},
		"--dt: found -1":                              {"--dt=-1"},
		"give a shorter interval":                     {"--dt", "1e9"},
		"has 3 readable frames, but not frame 7":      {"--video", "three", "--start", "7"},
		"expected at most 262144: ask for fewer":      {"--video", "three", "--between", "0,2", "--frames", "1000000"},
		"--bridge must be one of":                     {"--bridge", "golden"},
		"three is not empty":                          {"--out", "three"},
		"none.onnx":                                   {"--model", "none.onnx"},
		"three is a recording, but only a simulation": {"--video", "three", "--start", "0", "--assets", "."},
	} {
		if !slices.Contains(args, "--model") {
			args = append(args, "--model", "embedded:molecule")
		}
		drive(t, folder, append([]string{"sample", "--out", "film"}, args...)...).check(t, 2, want)
		if _, err := os.Stat(filepath.Join(folder, "film")); !os.IsNotExist(err) {
			t.Errorf("%s: a folder was made", want)
		}
	}
}
