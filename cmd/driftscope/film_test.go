package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gocv.io/x/gocv"
	"gonum.org/v1/gonum/mat"

	"driftscope/infer/card"
	"driftscope/internal/frame"
)

// specimen is a bright spot of 5 px on a random walk about (x, y), on a flat background, in 16-bit counts.
type specimen struct {
	x, y       float64
	background float64
	bright     float64
	noise      float64 // sd of each pixel, counts
	frames     int
}

// film writes the specimen as a FITS cube of side × side pixels and says where the spot was.
func film(t *testing.T, folder, name string, side int, s specimen) (places *mat.Dense) {
	t.Helper()
	var b bytes.Buffer
	for _, c := range []string{"SIMPLE  =                    T", "BITPIX  =                   16", "NAXIS   =                    3", fmt.Sprintf("NAXIS1  = %20d", side),
		fmt.Sprintf("NAXIS2  = %20d", side), fmt.Sprintf("NAXIS3  = %20d", s.frames), "BZERO   =                32768", "KCT     =                  0.5", "END"} {
		fmt.Fprintf(&b, "%-80s", c)
	}
	block := func() []byte { return bytes.Repeat([]byte(" "), (2880-b.Len()%2880)%2880) }
	b.Write(block())
	rng := rand.New(rand.NewPCG(uint64(s.x), uint64(s.frames)))
	places = mat.NewDense(s.frames, 2, nil)
	x, y := s.x, s.y
	for k := range s.frames {
		places.SetRow(k, []float64{x, y})
		for p := range side * side {
			dx, dy := float64(p%side)-x, float64(p/side)-y
			v := s.background + s.bright*math.Exp(-(dx*dx+dy*dy)/50) + s.noise*rng.NormFloat64()
			b.Write(binary.BigEndian.AppendUint16(nil, uint16(math.Round(v))-1<<15))
		}
		const pull = 0.9 // back to (x, y)
		x, y = s.x+pull*(x-s.x)+2*rng.NormFloat64(), s.y+pull*(y-s.y)+2*rng.NormFloat64()
	}
	b.Write(block())
	if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return places
}

// specimens are three films of one kind of object, at different places on different backgrounds.
var specimens = []specimen{
	{x: 45, y: 80, background: 500, bright: 300, noise: 10, frames: 40},
	{x: 88, y: 44, background: 1500, bright: 500, noise: 10, frames: 40},
	{x: 60, y: 60, background: 900, bright: 200, noise: 10, frames: 25},
}

// filmSpecimens writes them as a.fits, b.fits and c.fits of 128 pixels a side.
func filmSpecimens(t *testing.T, folder string) {
	t.Helper()
	for i, s := range specimens {
		film(t, folder, string(rune('a'+i))+".fits", 128, s)
	}
}

// Each film is seen through its own window and region, whichever of its frames are asked for.
func TestEachFilm(t *testing.T) {
	folder := t.TempDir()
	filmSpecimens(t, folder)
	steps := (&survey{}).steps(0, 0, false, &region{size: 64, film: true})
	for i := range specimens {
		var first map[uint64][]float32
		for _, s := range []span{whole, {10, 15}} {
			rec, err := openRecording(filepath.Join(folder, string(rune('a'+i))+".fits"), 0, 0, "", s)
			if err != nil {
				t.Fatal(err)
			}
			pictures := map[uint64][]float32{}
			x, y, low, high := 0.0, 0.0, float32(1), float32(0)
			if _, err := rec.each(t.Context(), steps, func(f *frame.Frame) error {
				pixels, shape, err := planes(f)
				if err != nil || shape != [3]int{1, side, side} {
					t.Fatalf("shape %v, %v", shape, err)
				}
				pictures[f.Seq] = pixels
				low, high = min(low, slices.Min(pixels)), max(high, slices.Max(pixels))
				at := slices.Index(pixels, slices.Max(pixels))
				x, y = x+float64(at%side), y+float64(at/side)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			n := float64(len(pictures))
			if first == nil {
				first = pictures
				if math.Abs(x/n-31.5) > 3 || math.Abs(y/n-31.5) > 3 || high != 1 || low > 0.1 { // the crop leaves the film's darkest pixel out
					t.Errorf("film %d: the spot is at (%.1f, %.1f) in the mean, values are %g to %g; expected the middle, and 0 to 1", i, x/n, y/n, low, high)
				}
			} else if n != 5 || !slices.Equal(pictures[12], first[12]) {
				t.Errorf("film %d: frame 12 of %v looks otherwise than in the whole film", i, s)
			}
		}
	}
}

// twoTrajectories writes pictures of a spot that is elsewhere, on another ground, in the second trajectory.
func twoTrajectories(t *testing.T, folder string) {
	t.Helper()
	table := "file,t,trajectory\n"
	m := gocv.NewMatWithSize(100, 128, gocv.MatTypeCV8UC1)
	defer m.Close()
	data, err := m.DataPtrUint8()
	if err != nil {
		t.Fatal(err)
	}
	for k := range 16 {
		x, y := 40+60*(k/8), 60-20*(k/8)
		for p := range data {
			dx, dy := float64(p%128-x-k%3), float64(p/128-y-k/2%3)
			data[p] = uint8(20 + 50*(k/8) + int(100*math.Exp(-(dx*dx+dy*dy)/40)))
		}
		name := fmt.Sprintf("%02d.png", k)
		if !gocv.IMWrite(filepath.Join(folder, name), m) {
			t.Fatal("no picture was written")
		}
		table += fmt.Sprintf("%s,%d,%d\n", name, k%8, 3+k/8)
	}
	if err := os.WriteFile(filepath.Join(folder, "frames.csv"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The trajectories of one folder are films as well: the spot is in the middle of both, whichever frames are asked for.
func TestEachTrajectory(t *testing.T) {
	folder := t.TempDir()
	twoTrajectories(t, folder)
	for _, c := range []struct {
		span
		frames int
	}{{whole, 16}, {span{3, 10}, 7}, {span{10, 14}, 4}} {
		rec, err := openRecording(folder, 0, 0, "", c.span)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		if _, err := rec.each(t.Context(), (&survey{}).steps(0, 0, false, &region{size: 48, film: true}), func(f *frame.Frame) error {
			n++
			pixels, _, err := planes(f)
			at := slices.Index(pixels, slices.Max(pixels))
			if x, y := float64(at%side), float64(at/side); math.Abs(x-31.5) > 4 || math.Abs(y-31.5) > 4 || pixels[0] > 0.02 || slices.Max(pixels) < 0.9 {
				t.Errorf("frame %d of %v: the spot is at (%g, %g) on a ground of %g, expected the middle on 0", f.Seq, c.span, x, y, pixels[0])
			}
			return err
		}); err != nil || n != c.frames {
			t.Errorf("%d frames of %v, %v", n, c.span, err)
		}
	}
	rec, err := openRecording(folder, 0, 0, "", whole)
	if err != nil {
		t.Fatal(err)
	}
	films, err := rec.films(t.Context())
	if err != nil || len(films) != 2 || films[0].frames != 8 || films[1].low != 70 {
		t.Errorf("found %d films, %v", len(films), err)
	}
}

// TestFilms goes from three films to a model, and from it to figures and a stream. Thirty steps teach little, so only the form is held.
func TestFilms(t *testing.T) {
	long(t)
	t.Parallel()
	folder := t.TempDir()
	filmSpecimens(t, folder)
	pretrain := []string{"pretrain", "a.fits", "b.fits", "c.fits", "--latent", "2", "--steps", "30", "--pairs", "16", "--restarts", "1", "--sleep=-1", "--clahe", "off", "--out", "m.onnx"}
	o := drive(t, folder, append(pretrain, "--crop", "film")...)
	if o.status != 0 || !strings.Contains(o.errors, "each film's own grey window and region, normalise → roi 64x64 around the object → resize") {
		t.Fatal(o.errors)
	}
	file, err := card.Read(content(t, folder, "m.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	if got := file.Card.Preprocess; len(got) != 3 || got[0].Options["film"] != true || got[1].Options["search"].(map[string]any)["film"] != true {
		t.Errorf("the card's steps are %+v", got)
	}
	o = drive(t, folder, "eval", "--model", "m.onnx", "--video", "b.fits", "--truth", "centroid", "--align", "affine", "--fit-frames", "0:20", "--frames", "20:40", "--baseline", "registration")
	var got evaluation
	if err := json.Unmarshal([]byte(o.out), &got); o.status != 0 || err != nil {
		t.Fatalf("eval: %v\n%s%s", err, o.out, o.errors)
	}
	if got.N != 20 || got.DisplacementMSE == nil || got.RegistrationMSE == nil {
		t.Errorf("eval prints %s", o.out)
	}
	if err := os.Mkdir(filepath.Join(folder, "two"), 0o700); err != nil {
		t.Fatal(err)
	}
	twoTrajectories(t, filepath.Join(folder, "two"))
	o = drive(t, folder, "eval", "--model", "m.onnx", "--video", "two", "--truth", "centroid", "--align", "affine", "--fit-frames", "0:8", "--frames", "8:16")
	if o.status != 0 || !strings.Contains(o.errors, "warning: two has 2 trajectories, and m.onnx sees each around a centre of its own") {
		t.Errorf("eval of two films: %s", o.errors)
	}
	if o := drive(t, folder, "run", "c.fits", "--model", "m.onnx", "--nats", "off", "--no-status"); o.status != 0 || !strings.Contains(o.out, "frames in 25, tracked 25") {
		t.Errorf("run: %s%s", o.out, o.errors)
	}
	drive(t, folder, append(pretrain, "--crop", "film,200")...).check(t, 2, `--crop "film,200": expected film,SIZE with 1 to 128 pixels`)
	film(t, folder, "blank.fits", 128, specimen{x: 60, y: 60, background: 500, frames: 5})
	drive(t, folder, "pretrain", "a.fits", "blank.fits", "--latent", "2", "--crop", "film", "--out", "x.onnx").check(t, 1, "every pixel of the film is 500 so far: check the light")
}
