package online

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online/diffusion"
	"driftscope/online/drift"
	"driftscope/online/onlinetest"
)

// anyNetwork returns a network without zero weights.
func anyNetwork(dim int, seed uint64) *drift.Network {
	rng := onlinetest.Rand(seed)
	n := drift.NewNetwork(dim, rng)
	for i := range n.Weights {
		n.Weights[i] += 0.3 * rng.NormFloat64()
	}
	for i := range n.Centre {
		n.Centre[i] = rng.NormFloat64()
	}
	n.Scale = 0.7
	return n
}

func saved(t testing.TB, e *Estimator) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := e.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A stream that is saved and restored at any point of refinement's cycle continues bit by bit like an uninterrupted one.
func TestRestoredGoesOnIdentically(t *testing.T) {
	suite.Calculation(t)
	prior := anyNetwork(2, 1)
	for name, c := range map[string]Config{
		"plain":             {Dim: 2, Seed: 3, Deterministic: true, RefineLag: 20},
		"prior, forgetting": {Dim: 2, Seed: 3, Deterministic: true, RefineLag: 20, Prior: prior, Forget: 0.995, Replay: 128},
		"repeated":          {Dim: 2, Seed: 3, Applied: []uint64{75, 160, 190}, RefineLag: 20},
	} {
		seen, _ := onlinetest.Stream(onlinetest.Circle, 200, 0.3, onlinetest.Rand(4))
		seen[120].Trajectory++
		for k := 121; k < len(seen); k++ {
			seen[k].Trajectory = seen[120].Trajectory
		}
		whole, want := estimator(t, c), make([]latent.Estimate, len(seen))
		for k := range seen {
			want[k].Copy(feed(t, whole, seen[k:k+1]))
		}
		// A slice of moving latents runs from frame 150 and applies at 170. In the repeated run, slices run from 101 to 160 and on to 190.
		for _, cut := range []int{0, 121, 165, 185} {
			first := estimator(t, c)
			feed(t, first, seen[:cut])
			if cut == 165 && !first.law.inFlight {
				t.Fatalf("%s: no slice is running at frame %d", name, cut)
			}
			c.Seed++ // the seed is spent: a restored estimator needs only the state
			second := estimator(t, c)
			c.Seed--
			feed(t, second, seen[:cut/2]) // Restore also works into an estimator that has learnt
			state := saved(t, first)
			if err := second.Restore(bytes.NewReader(state)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(state, saved(t, second)) {
				t.Fatalf("%s: saved at frame %d, restored and saved again, the state differs", name, cut)
			}
			var got latent.Estimate
			for k := cut; k < len(seen); k++ {
				got.Copy(feed(t, second, seen[k:k+1]))
				if !reflect.DeepEqual(want[k], got) {
					t.Fatalf("%s: saved at frame %d, frame %d differs:\n%+v\n%+v", name, cut, k, want[k], got)
				}
			}
			if !bytes.Equal(saved(t, whole), saved(t, second)) {
				t.Fatalf("%s: saved at frame %d, the final states differ", name, cut)
			}
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	c := Config{Dim: 2, Seed: 3, Deterministic: true}
	e := estimator(t, c)
	seen, _ := onlinetest.Stream(onlinetest.Circle, 100, 0.3, onlinetest.Rand(4))
	feed(t, e, seen)
	good := saved(t, e)
	flip := func(at int) []byte {
		b := bytes.Clone(good)
		b[at] ^= 1
		return b
	}
	for name, x := range map[string]struct {
		file []byte
		want string
	}{
		"empty":      {nil, "does not begin with the right signature"},
		"foreign":    {bytes.Repeat([]byte("z"), 100), "does not begin with the right signature"},
		"version":    {flip(len(format.Magic)), "version"},
		"huge":       {append(append([]byte(format.Magic), byte(format.Version), 0, 0, 0), bytes.Repeat([]byte{255}, 64)...), "bytes announced"},
		"torn":       {good[:len(good)/2], "torn after"},
		"torn end":   {good[:len(good)-1], "torn after"},
		"flipped":    {flip(len(good) / 2), "digest"},
		"bad digest": {flip(len(good) - 1), "digest"},
		"cut short":  {sealed(good[format.HeaderSize() : len(good)-sha256.Size-8]), "ends early"},
		"too long":   {sealed(append(bytes.Clone(good[format.HeaderSize():len(good)-sha256.Size]), 0)), "too many"},
	} {
		err := e.Restore(bytes.NewReader(x.file))
		if !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
	if !bytes.Equal(good, saved(t, e)) {
		t.Error("a refused checkpoint changed the state")
	}
	for name, other := range map[string]Config{
		"dimension": {Dim: 3},
		"prior":     {Dim: 2, Prior: anyNetwork(2, 1)},
		"lag":       {Dim: 2, RefineLag: 7},
		"forget":    {Dim: 2, Forget: 0.999},
	} {
		if err := estimator(t, other).Restore(bytes.NewReader(good)); !errors.Is(err, ErrCheckpoint) || !strings.Contains(err.Error(), "expected") {
			t.Errorf("different %s: %v", name, err)
		}
	}
	if err := e.Restore(iotest.OneByteReader(bytes.NewReader(good))); err != nil {
		t.Errorf("restored from a slow reader: %v", err)
	}
}

// sealed returns payload as a checkpoint with a correct digest.
func sealed(payload []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(format.Magic), format.Version)
	b = append(binary.LittleEndian.AppendUint64(b, uint64(len(payload))), payload...)
	digest := sha256.Sum256(b)
	return append(b, digest[:]...)
}

// For any input, Restore returns an error or leaves a usable estimator.
func FuzzRestore(f *testing.F) {
	small := &drift.Network{Dim: 1, Hidden: []int{2}, Centre: []float64{0}, Scale: 1, Weights: make([]float64, 8)}
	c := Config{Dim: 1, Deterministic: true, Replay: 64, RefineLag: 2, Prior: small}
	e := estimator(f, c)
	fresh := saved(f, e)
	dst := new(latent.Estimate)
	rng := onlinetest.Rand(1)
	l := latent.Latent{Mean: []float64{0}}
	out := []byte(nil)
	for k := range 200 {
		l.Time = time.Unix(int64(k), 0)
		l.Mean[0] += rng.NormFloat64()
		if err := e.Update(dst, &l); err != nil {
			f.Fatal(err)
		}
		if e.law.inFlight && e.law.sde.ActiveCount > 0 {
			out = saved(f, e)
		}
	}
	if out == nil {
		f.Fatal("no slice of a latent that moves was out")
	}
	f.Add(fresh, false)
	f.Add(out[format.HeaderSize():len(out)-sha256.Size], true)
	f.Add(saved(f, e), false)
	f.Add(fresh[format.HeaderSize():len(fresh)-sha256.Size], true)
	full := saved(f, e)
	f.Add(full[format.HeaderSize():len(full)-sha256.Size], true)
	f.Fuzz(func(t *testing.T, data []byte, seal bool) {
		if seal {
			data = sealed(data)
		}
		e := estimator(t, c)
		if err := e.Restore(bytes.NewReader(data)); err != nil {
			if !errors.Is(err, ErrCheckpoint) {
				t.Fatal(err)
			}
			return
		}
		l := latent.Latent{Trajectory: 99, Mean: []float64{0}}
		for k := range 12 {
			l.Time, l.Mean[0] = time.Unix(int64(k), 0), float64(k*k%5)
			if err := e.Update(dst, &l); err != nil && !errors.Is(err, diffusion.ErrTimeOrder) {
				t.Fatal(err)
			}
		}
		saved(t, e)
	})
}
