package preprocess

import (
	"context"
	"encoding/base64"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"gocv.io/x/gocv"

	"driftscope/internal/flow/pipeline"
	"driftscope/preprocess/illumination"
)

// blankReference is a reference of zeros, in YAML.
var blankReference = "[" + strings.Repeat(base64.StdEncoding.EncodeToString(make([]byte, 2*illumination.Side))+", ", illumination.Side) + "]"

// textured returns the still part of a test's pictures, 60 × 80.
func textured() []float32 {
	rng := rand.New(rand.NewPCG(5, 0))
	v := make([]float32, 60*80)
	for i := range v {
		v[i] = float32(80 + 10*rng.NormFloat64())
	}
	return v
}

// steadied makes the step for textured pictures, with a scale of 0.3 counts.
func steadied(t *testing.T, form illumination.Form) pipeline.Step {
	t.Helper()
	small, err := illumination.NewThumbnail(60, 80, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := &illumination.Model{Form: form, Reference: make([]float32, illumination.Size), Scale: 0.3}
	small.Of(m.Reference, textured())
	text, err := yaml.Marshal(IlluminationOptions(m))
	if err != nil {
		t.Fatal(err)
	}
	return newStep(t, "illumination", string(text))
}

// TestIllumination: frames under a different light become equal to the reference, up to the rounding of counts, its multiple by the gain, and the 16 bits of
// the reference.
func TestIllumination(t *testing.T) {
	everything := illumination.Form{Gain: true, Plane: true, Interlaced: true}
	for _, c := range []struct {
		name  string
		form  illumination.Form
		mt    gocv.MatType
		light func(r, x int) (gain, added float64)
	}{
		{"offset, 8 bits", illumination.Form{}, gocv.MatTypeCV8UC1, func(_, _ int) (float64, float64) { return 1, 20 }},
		{"gain, 16 bits", illumination.Form{Gain: true}, gocv.MatTypeCV16UC1, func(_, _ int) (float64, float64) { return 1.5, -30 }},
		{"slope, float", illumination.Form{Plane: true}, gocv.MatTypeCV32FC1, func(r, x int) (float64, float64) { return 1, 0.5*float64(x) - 0.2*float64(r) }},
		{"rows, colour", everything, gocv.MatTypeCV32FC3, func(r, x int) (float64, float64) { return 1 + 0.2*float64(r%2), 0.1 * float64(x) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			channels, still := int(c.mt>>channelShift)+1, textured()
			var lit []float32
			for i, v := range still {
				gain, added := c.light(i/80, i%80)
				for range channels {
					lit = append(lit, float32(math.Round((gain*float64(v)+added)*8)/8))
				}
			}
			f := picture(t, 0, 60, 80, c.mt, lit...)
			apply(t, steadied(t, c.form), f)
			if len(f.Meta.Events) > 0 {
				t.Errorf("told %v", f.Meta.Events)
			}
			for i, v := range values(t, f) {
				if d := float64(v - still[i/channels]); math.Abs(d) > 1.1 { // integers lose up to a count
					t.Fatalf("pixel %d is off by %.3f", i, d)
				}
			}
		})
	}
}

// TestIlluminationDoubts: a different scene gives one warning, a lamp that is off skips the frame, and a picture that is too small gives an error.
func TestIlluminationDoubts(t *testing.T) {
	s := steadied(t, illumination.Form{})
	rng, other := rand.New(rand.NewPCG(6, 0)), make([]float32, 60*80)
	for i := range other {
		other[i] = float32(80 + 30*rng.NormFloat64())
	}
	for i, want := range []int{1, 0} {
		f := picture(t, uint64(i), 60, 80, gocv.MatTypeCV32FC1, other...)
		apply(t, s, f)
		if len(f.Meta.Events) != want || want == 1 && f.Meta.Events[0].Code != "background_changed" {
			t.Errorf("frame %d told %v", i, f.Meta.Events)
		}
	}
	var skip *pipeline.ErrSkip
	s = steadied(t, illumination.Form{Gain: true})
	if err := s.Apply(context.Background(), picture(t, 2, 60, 80, gocv.MatTypeCV8UC1, 0)); !errors.As(err, &skip) || skip.Cause != "no_light" {
		t.Errorf("a dark frame: %v", err)
	}
	if err := s.Apply(context.Background(), picture(t, 3, 20, 80, gocv.MatTypeCV8UC1, 9)); err == nil || errors.As(err, &skip) {
		t.Errorf("20 rows: %v", err)
	}
}
