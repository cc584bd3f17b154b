package tracking

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLooks uses 600 positions with two latents: the squared distance from the focus plus noise, and a latent without information. |z| is explained except
// for noise and the error of a parabola as a root (0.98 by quadrature). The independent light is not explained (45 terms, 500 positions: 0.01).
// Positions of dark objects, false positions and rows without latents do not count.
func TestLooks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var truth, found strings.Builder
	truth.WriteString("frame,particle,x,y,z,light\n")
	found.WriteString("particle,frame,y,x,sd,z_0,z_1,z_sd_0\n")
	for f := range 200 {
		for i := range 4 {
			z, light := 4*rng.NormFloat64(), 0.5+rng.Float64()
			if i == 3 {
				light = 0
			}
			fmt.Fprintf(&truth, "%d,%d,%d,5,%g,%g\n", f, i, 20*i, z, light)
			look := fmt.Sprintf("%g,%g", math.Sqrt(math.Abs(z))+0.01*rng.NormFloat64(), rng.NormFloat64())
			if i == 0 && f%2 == 0 {
				look = ","
			}
			fmt.Fprintf(&found, "%d,%d,5.5,%d,0.1,%s,1\n", i, f, 20*i+1, look)
		}
		fmt.Fprintf(&found, "9,%d,100,100,0.1,0,0,1\n", f)
	}
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := write("truth.csv", truth.String()), write("found.csv", found.String())
	l, err := ReadLooks(a, b)
	if err != nil || l.Places != 500 || l.R2["z"] < 0.97 || math.Abs(l.R2["light"]) > 0.05 {
		t.Errorf("%+v, %v", l, err)
	}
	plain := write("plain.csv", "frame,particle,x,y\n0,1,2,3\n")
	for name, tables := range map[string][2]string{"no latents": {a, plain}, "nothing known": {plain, b}} {
		if l, err := ReadLooks(tables[0], tables[1]); l != nil || err != nil {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
	}
	if l, err := ReadLooks(write("few.csv", "frame,particle,x,y,z\n0,0,0,5,1\n"), b); err != nil || l.Places != 0 || len(l.R2) != 0 {
		t.Errorf("one place, whose latents are not told: %+v, %v", l, err)
	}
	if _, err := ReadLooks(a, filepath.Join(folder, "none.csv")); err == nil {
		t.Error("a table that is not there was read")
	}
}
