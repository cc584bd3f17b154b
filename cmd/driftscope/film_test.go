package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"
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
