package infer_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
)

var (
	_ pipeline.Viewer = (*infer.Encoder)(nil)
)

// parse builds a model from two graphs. decoder may be nil.
func parse(t testing.TB, in card.Input, d int, encoder, decoder *card.Graph) *infer.Model {
	t.Helper()
	data, err := card.Write(cardFor(in, d), encoder, decoder)
	if err != nil {
		t.Fatal(err)
	}
	m, err := infer.Parse("test.onnx", data)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func open(t testing.TB, m *infer.Model) *infer.Encoder {
	t.Helper()
	e, err := m.NewEncoder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// picture returns frame 7 with the given values, height × width × channels.
func picture(t testing.TB, height, width int, mt gocv.MatType, values ...float32) *frame.Frame {
	t.Helper()
	m := gocv.NewMatWithSize(height, width, mt)
	if p, err := m.DataPtrFloat32(); err == nil {
		for i := range p {
			p[i] = values[i%len(values)]
		}
	}
	f := frame.New(7, time.Unix(5, 0), frame.Meta{Trajectory: 2, Dropped: 3}, m)
	t.Cleanup(func() { f.Close() })
	return f
}

func random(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 0))
	v := make([]float32, n)
	for i := range v {
		v[i] = r.Float32()
	}
	return v
}

func TestEncode(t *testing.T) {
	for _, in := range []card.Input{{Channels: 1, Height: 3, Width: 5}, {Channels: 3, Height: 4, Width: 2}} {
		size, mt := in.Channels*in.Height*in.Width, gocv.MatTypeCV32FC1
		if in.Channels == 3 {
			mt = gocv.MatTypeCV32FC3
		}
		const d = 2
		weights, biases := random(2*d*size, 1), random(2*d, 2)
		e := open(t, parse(t, in, d, linearEncoder(in, weights, biases), nil))
		values := random(size, 3)
		var z latent.Latent
		if err := e.Encode(context.Background(), &z, picture(t, in.Height, in.Width, mt, values...)); err != nil {
			t.Fatal(err)
		}
		if z.Seq != 7 || !z.Time.Equal(time.Unix(5, 0)) || z.Trajectory != 2 || z.Dropped != 3 {
			t.Errorf("found %+v, expected the frame's number, time, trajectory and drops", z)
		}
		for k := range 2 * d {
			want := float64(biases[k])
			for i, v := range values { // pixel by pixel, blue first; the model reads plane by plane, red first
				channel, pixel := in.Channels-1-i%in.Channels, i/in.Channels
				want += float64(weights[k*size+channel*in.Height*in.Width+pixel]) * float64(v)
			}
			got := 0.0
			if k < d {
				got = z.Mean[k]
			} else {
				got = math.Log(z.SD[k-d])
			}
			if math.Abs(got-want) > 1e-5 { // float32 sums of at most 24 terms
				t.Errorf("%d channels, output %d: found %g, expected %g", in.Channels, k, got, want)
			}
		}
	}
}

// TestEncodeSingleOutput: a foreign encoder may return means and log sds in one output.
func TestEncodeSingleOutput(t *testing.T) {
	in := card.Input{Channels: 1, Height: 1, Width: 2}
	g := newGraph("picture", 1, 1, 1, 2)
	g.flatten("flat")
	g.gemm("both", []float32{1, 0, 0, 1, 0, 0, 0, 0}, []float32{0, 0, 0, -1})
	e := open(t, parse(t, in, 2, g.outputs(card.Value{Name: "both", Shape: []int{1, 4}}), nil))
	var z latent.Latent
	if err := e.Encode(context.Background(), &z, picture(t, 1, 2, gocv.MatTypeCV32FC1, 0.25, 0.75)); err != nil {
		t.Fatal(err)
	}
	if z.Mean[0] != 0.25 || z.Mean[1] != 0.75 || z.SD[0] != 1 || math.Abs(z.SD[1]-math.Exp(-1)) > 1e-12 {
		t.Errorf("found %v ± %v, expected [0.25 0.75] ± [1 1/e]", z.Mean, z.SD)
	}
}

func TestEncodeRefuses(t *testing.T) {
	in := card.Input{Channels: 1, Height: 2, Width: 2}
	ones := []float32{1, 1, 1, 1, 200, 200, 200, 200}
	e := open(t, parse(t, in, 1, linearEncoder(in, ones, []float32{0, 0}), nil))
	nan := float32(math.NaN())
	empty := frame.New(7, time.Time{}, frame.Meta{}, gocv.NewMat())
	defer empty.Close()
	for _, c := range []struct {
		name, want, skip string
		frame            *frame.Frame
	}{
		{"size", "frame 7 is 3x2 after preprocess, the model needs 2x2: add resize", "", picture(t, 2, 3, gocv.MatTypeCV32FC1, 0)},
		{"channels", "has 3 channels after preprocess, the model needs 1: add normalise with grey: true", "", picture(t, 2, 2, gocv.MatTypeCV32FC3, 0)},
		{"depth", "is not float32 after preprocess", "", picture(t, 2, 2, gocv.MatTypeCV16UC1)},
		{"float64", "is not float32 after preprocess", "", picture(t, 2, 2, gocv.MatTypeCV64FC1)},
		{"range", "found values from 0 to 700 after preprocess, the model needs 0 to 1: add normalise", "", picture(t, 2, 2, gocv.MatTypeCV32FC1, 0, 700)},
		{"empty", "the picture is empty", "empty_frame", empty},
		{"nan in", "pixels are not finite numbers", "encoder_nan", picture(t, 2, 2, gocv.MatTypeCV32FC1, 0, nan)},
		{"infinity in", "pixels are not finite numbers", "encoder_nan", picture(t, 2, 2, gocv.MatTypeCV32FC1, 0, float32(math.Inf(1)))},
		{"infinity out", "the encoder's outputs are not finite numbers", "encoder_nan", picture(t, 2, 2, gocv.MatTypeCV32FC1, 1)}, // exp(800)
	} {
		var z latent.Latent
		err := e.Encode(context.Background(), &z, c.frame)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q in it", c.name, err, c.want)
		}
		var skip *pipeline.ErrSkip
		if errors.As(err, &skip) != (c.skip != "") || skip != nil && skip.Cause != c.skip {
			t.Errorf("%s: found %v, expected a skip for %q", c.name, err, c.skip)
		}
	}
}

func TestDecodeAndView(t *testing.T) {
	in := card.Input{Channels: 3, Height: 16, Width: 24}
	size, plane := 3*16*24, 16*24
	w, b := make([]float32, size), make([]float32, size)
	for i := range w { // red follows z, green is always full, blue always empty
		switch i / plane {
		case 0:
			w[i] = 1
		case 1:
			b[i] = 20
		case 2:
			b[i] = -20
		}
	}
	e := open(t, parse(t, in, 1, linearEncoder(in, make([]float32, 2*size), []float32{0, 0}), linearDecoder(in, 1, w, b)))
	got := make([]float32, size)
	if err := e.Decode(got, []float64{math.Log(3)}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float32{0.75, 1, 0} { // sigmoid(ln 3) = 3/4
		if math.Abs(float64(got[i*plane+5]-want)) > 1e-6 {
			t.Errorf("channel %d: found %g, expected %g", i, got[i*plane+5], want)
		}
	}
	if err := e.Decode(got[1:], []float64{0}); err == nil || !strings.Contains(err.Error(), "space for 1151 values, expected 1152") {
		t.Errorf("short dst: found %v", err)
	}
	if err := e.Decode(got, nil); err == nil || !strings.Contains(err.Error(), "found 0 latents, expected 1") {
		t.Errorf("short z: found %v", err)
	}

	view := latent.View{Preview: []byte("old"), Reconstruction: []byte("old")}
	f := picture(t, 16, 24, gocv.MatTypeCV32FC3, 1, 0.5, 0) // blue 1, green 1/2, red 0
	if err := e.View(&view, f, &latent.Latent{Mean: []float64{math.Log(3)}}); err != nil {
		t.Fatal(err)
	}
	checkColour(t, "preview", view.Preview, [3]float64{0, 0.5, 1})
	checkColour(t, "reconstruction", view.Reconstruction, [3]float64{0.75, 1, 0})
	if view.Region != nil || len(view.Whole) != 0 {
		t.Errorf("no region was cut, but the view has %+v", view.Region)
	}
	f.Meta.Overview = &frame.Overview{Picture: noise(frame.OverviewSide), Whole: image.Pt(512, 512), Region: image.Rect(208, 204, 304, 300)}
	if err := e.View(&view, f, &latent.Latent{Mean: []float64{0}}); err != nil {
		t.Fatal(err)
	}
	if want := (latent.Region{X: 208, Y: 204, Width: 96, Height: 96, WholeWidth: 512, WholeHeight: 512}); view.Region == nil || *view.Region != want {
		t.Errorf("found %+v, expected %+v", view.Region, want)
	}
	if whole, err := jpeg.Decode(bytes.NewReader(view.Whole)); err != nil || whole.Bounds().Dx() != frame.OverviewSide || len(view.Whole) > 50_000 {
		t.Errorf("the whole picture takes %d bytes: %v", len(view.Whole), err)
	}
	f.Meta.Overview.Picture = nil
	if err := e.View(&view, f, &latent.Latent{Mean: []float64{0}}); err != nil || view.Region == nil || len(view.Whole) != 0 {
		t.Errorf("without a picture: %+v and %d bytes, %v", view.Region, len(view.Whole), err)
	}
	if view.Seq != 7 || !view.Time.Equal(time.Unix(5, 0)) {
		t.Errorf("found frame %d at %v, expected frame 7 at 5 s", view.Seq, view.Time)
	}
}

// noise returns the picture that takes the most bytes as JPEG.
func noise(side int) image.Image {
	rng := rand.New(rand.NewPCG(1, 1))
	picture := image.NewGray(image.Rect(0, 0, side, side))
	for i := range picture.Pix {
		picture.Pix[i] = uint8(rng.UintN(256))
	}
	return picture
}

func checkColour(t *testing.T, name string, data []byte, want [3]float64) {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if size := img.Bounds().Size(); size.X != 24 || size.Y != 16 {
		t.Errorf("%s: found %v, expected 24x16", name, size)
	}
	r, g, b, _ := img.At(12, 8).RGBA()
	for i, v := range []uint32{r, g, b} {
		if math.Abs(float64(v)/65535-want[i]) > 0.03 { // JPEG at quality 90
			t.Errorf("%s, channel %d: found %.3f, expected %.3f", name, i, float64(v)/65535, want[i])
		}
	}
}

func TestNoDecoder(t *testing.T) {
	in := card.Input{Channels: 1, Height: 8, Width: 8}
	m := parse(t, in, 1, linearEncoder(in, random(128, 1), []float32{0, 0}), nil)
	e := open(t, m)
	if err := e.Decode(make([]float32, 64), []float64{0}); !errors.Is(err, infer.ErrNoDecoder) || m.HasDecoder() {
		t.Errorf("found %v, expected ErrNoDecoder", err)
	}
	view := latent.View{Reconstruction: []byte("old")}
	f := picture(t, 8, 8, gocv.MatTypeCV32FC1, 0.5)
	if err := e.View(&view, f, &latent.Latent{Mean: []float64{0}}); err != nil || len(view.Preview) == 0 || len(view.Reconstruction) != 0 {
		t.Errorf("found %v, a preview of %d and a reconstruction of %d bytes, expected only a preview",
			err, len(view.Preview), len(view.Reconstruction))
	}
}

// TestEncodersAreIndependent: encoders of one model, each in its own goroutine, agree and have no data race.
func TestEncodersAreIndependent(t *testing.T) {
	m := parse(t, card.Input{Channels: 3, Height: 64, Width: 64}, 3, paperEncoder(3, 3), nil)
	values := random(64*64*3, 9)
	results := make([]latent.Latent, 4)
	var group sync.WaitGroup
	for i := range results {
		e, f := open(t, m), picture(t, 64, 64, gocv.MatTypeCV32FC3, values...)
		group.Go(func() {
			for range 5 {
				if err := e.Encode(context.Background(), &results[i], f); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	for i := range results {
		for k := range results[i].Mean {
			if results[i].Mean[k] != results[0].Mean[k] || results[i].SD[k] != results[0].SD[k] {
				t.Errorf("encoder %d: found %v, expected %v", i, results[i].Mean, results[0].Mean)
			}
		}
	}
}

func TestEncodeAllocates(t *testing.T) {
	e := open(t, parse(t, card.Input{Channels: 3, Height: 64, Width: 64}, 3, paperEncoder(3, 3), nil))
	f := picture(t, 64, 64, gocv.MatTypeCV32FC3, 0.5)
	var z latent.Latent
	if n := testing.AllocsPerRun(10, func() {
		if err := e.Encode(context.Background(), &z, f); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("found %g allocations a frame, expected none", n)
	}
}

// BenchmarkEncode runs the paper's encoder with our own trunk and wholly in OpenCV.
func BenchmarkEncode(b *testing.B) {
	infer.SetThreads(1)
	for _, c := range []struct {
		name     string
		channels int
		mt       gocv.MatType
	}{{"grey", 1, gocv.MatTypeCV32FC1}, {"colour", 3, gocv.MatTypeCV32FC3}} {
		m := parse(b, card.Input{Channels: c.channels, Height: 64, Width: 64}, 3, paperEncoder(c.channels, 3), nil)
		f := picture(b, 64, 64, c.mt, random(64*64*c.channels, 1)...)
		for _, k := range []struct {
			name  string
			model *infer.Model
		}{{"own", m}, {"opencv", m.Whole()}} {
			b.Run(c.name+"/"+k.name, func(b *testing.B) {
				e := open(b, k.model)
				var z latent.Latent
				b.ReportAllocs()
				for b.Loop() {
					if err := e.Encode(context.Background(), &z, f); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkView(b *testing.B) {
	e := open(b, parse(b, card.Input{Channels: 3, Height: 64, Width: 64}, 3, paperEncoder(3, 3), paperDecoder(3)))
	f := picture(b, 64, 64, gocv.MatTypeCV32FC3, random(64*64*3, 1)...)
	var view latent.View
	z := latent.Latent{Mean: []float64{0.1, 0.2, 0.3}}
	b.ReportAllocs()
	for b.Loop() {
		if err := e.View(&view, f, &z); err != nil {
			b.Fatal(err)
		}
	}
}
