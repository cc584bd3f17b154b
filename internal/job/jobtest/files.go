// Package jobtest has helpers for the tests of jobs: specimens and recordings as files (files.go), and a film of stored frames for streams
// under leases, with the stream's stored results (kept.go).
package jobtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"gocv.io/x/gocv"
	"gonum.org/v1/gonum/mat"
)

// Specimen is a bright spot of 5 px on a random walk about (x, y), on a flat background, in 16-bit counts.
type Specimen struct {
	X, Y       float64
	Background float64
	Bright     float64
	Noise      float64 // sd of each pixel, counts
	Frames     int
}

// Write writes the specimen as a FITS cube of side × side pixels and returns the positions of the spot.
func Write(t *testing.T, folder, name string, side int, s Specimen) (places *mat.Dense) {
	t.Helper()
	var b bytes.Buffer
	for _, c := range []string{"SIMPLE  =                    T", "BITPIX  =                   16", "NAXIS   =                    3", fmt.Sprintf("NAXIS1  = %20d", side),
		fmt.Sprintf("NAXIS2  = %20d", side), fmt.Sprintf("NAXIS3  = %20d", s.Frames), "BZERO   =                32768", "KCT     =                  0.5", "END"} {
		fmt.Fprintf(&b, "%-80s", c)
	}
	block := func() []byte { return bytes.Repeat([]byte(" "), (2880-b.Len()%2880)%2880) }
	b.Write(block())
	rng := rand.New(rand.NewPCG(uint64(s.X), uint64(s.Frames)))
	places = mat.NewDense(s.Frames, 2, nil)
	x, y := s.X, s.Y
	for k := range s.Frames {
		places.SetRow(k, []float64{x, y})
		for p := range side * side {
			dx, dy := float64(p%side)-x, float64(p/side)-y
			v := s.Background + s.Bright*math.Exp(-(dx*dx+dy*dy)/50) + s.Noise*rng.NormFloat64()
			b.Write(binary.BigEndian.AppendUint16(nil, uint16(math.Round(v))-1<<15))
		}
		const pull = 0.9 // back to (x, y)
		x, y = s.X+pull*(x-s.X)+2*rng.NormFloat64(), s.Y+pull*(y-s.Y)+2*rng.NormFloat64()
	}
	b.Write(block())
	if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return places
}

// Specimens are three films of one kind of object, at different positions on different backgrounds.
var Specimens = []Specimen{
	{X: 45, Y: 80, Background: 500, Bright: 300, Noise: 10, Frames: 40},
	{X: 88, Y: 44, Background: 1500, Bright: 500, Noise: 10, Frames: 40},
	{X: 60, Y: 60, Background: 900, Bright: 200, Noise: 10, Frames: 25},
}

// WriteSpecimens writes Specimens as a.fits, b.fits and c.fits of 128 pixels per side.
func WriteSpecimens(t *testing.T, folder string) {
	t.Helper()
	for i, s := range Specimens {
		Write(t, folder, string(rune('a'+i))+".fits", 128, s)
	}
}

// WriteTrajectories writes pictures of a spot in two trajectories, with different positions and backgrounds.
func WriteTrajectories(t *testing.T, folder string) {
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

// WritePictures writes n grey frames of side × side with a bright spot on a random walk to folder/name.
func WritePictures(t *testing.T, folder, name string, n, side int) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(uint64(n), 0))
	m := gocv.NewMatWithSize(side, side, gocv.MatTypeCV8UC1)
	defer m.Close()
	data, err := m.DataPtrUint8()
	if err != nil {
		t.Fatal(err)
	}
	edge := float64(side) / 5
	x, y := float64(side)/2, float64(side)/2
	for k := range n {
		for p := range data {
			dx, dy := float64(p%side)-x, float64(p/side)-y
			data[p] = uint8(20 + 200*math.Exp(-(dx*dx+dy*dy)/40))
		}
		if !gocv.IMWrite(filepath.Join(folder, name, fmt.Sprintf("%03d.png", k)), m) {
			t.Fatal("no picture was written")
		}
		x, y = min(max(x+2*rng.NormFloat64(), edge), 4*edge), min(max(y+2*rng.NormFloat64(), edge), 4*edge)
	}
}
