package trigger

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
)

// dish returns frames of a field: at[frame][id] is the x of an object on a line at y 50. An object without an entry has ended.
func dish(at ...map[uint64]float64) (all []*latent.Estimate) {
	for frame, places := range at {
		e := &latent.Estimate{Latent: latent.Latent{Seq: uint64(frame), Time: epoch.Add(time.Duration(frame) * 100 * time.Millisecond)}, Objects: &latent.Objects{}}
		o := e.Objects
		o.Width, o.Height = 201, 101
		for id := uint64(1); id < 10; id++ {
			if x, there := places[id]; there {
				o.ID, o.X, o.Y, o.SD, o.D, o.Marks = append(o.ID, id), append(o.X, x), append(o.Y, 50), append(o.SD, 0.1), append(o.D, 1), append(o.Marks, 0)
			}
		}
		all = append(all, e)
	}
	return all
}

// madeOfObjects returns the rule in a YAML text, for a field.
func madeOfObjects(t *testing.T, text string) *Rules {
	t.Helper()
	c := written(t, text)
	r, err := New(c.Kind, c.Decode, Env{Latents: 2, Field: true})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Together([]*Rule{r})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestObjects: each object enters and leaves a zone separately, an object that ends inside leaves the zone, and a rule for one object ignores all others.
func TestObjects(t *testing.T) {
	film := dish(
		map[uint64]float64{1: 10, 2: 150}, map[uint64]float64{1: 110, 2: 150}, map[uint64]float64{1: 120, 2: 20}, map[uint64]float64{2: 20, 3: 130}, map[uint64]float64{2: 130},
	)
	film[4].Objects.Marks[0] = latent.Predicted // not detected, only predicted
	for text, want := range map[string]string{
		"zone: {name: a, object: any, centroid_px: {x: [100, 200], y: [0, 100]}}":           "0+2 1+1 2-2 3+3 3-1 4-3",
		"zone: {name: a, object: any, box: {z1: [100, 200]}}":                               "0+2 1+1 2-2 3+3 3-1 4-3",
		"zone: {name: a, object: '2', centroid_px: {x: [100, 200], y: [0, 100]}}":           "0+2 2-2",
		"zone: {name: a, object: nearest, centroid_px: {x: [100, 115], y: [0, 100]}}":       "1+1 2-1",
		"speed: {name: a, object: any, centroid_px_s: 500, over: 100ms}":                    "1+1 2-1 2+2 3-2",
		"zone: {name: a, object: any, after: 2, centroid_px: {x: [100, 200], y: [0, 100]}}": "1+2 2+1 3-2 3-1",
	} {
		rules, got := madeOfObjects(t, text), []string{}
		for _, e := range film {
			for _, g := range rules.Watch(e) {
				got = append(got, fmt.Sprintf("%d%s%d", g.Seq, map[bool]string{true: "+", false: "-"}[g.On], g.Object))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: found %v, expected %s", text, got, want)
		}
	}
}

// TestObjectsCertain: a position counts only if its link is certain enough, and no speed is computed across an uncertain link.
func TestObjectsCertain(t *testing.T) {
	places := func() []*latent.Estimate {
		return dish(map[uint64]float64{1: 10}, map[uint64]float64{1: 11}, map[uint64]float64{1: 110}, map[uint64]float64{1: 111}, map[uint64]float64{1: 112}, map[uint64]float64{1: 10})
	}
	for text, want := range map[string]string{
		"zone: {name: a, object: any, certain: 0.9, centroid_px: {x: [100, 200], y: [0, 100]}}": "3+ 5-",
		"zone: {name: a, object: any, certain: 0.4, centroid_px: {x: [100, 200], y: [0, 100]}}": "2+ 5-",
		"speed: {name: a, object: any, certain: 0.9, centroid_px_s: 500, over: 100ms}":          "5+",
		"speed: {name: a, object: any, centroid_px_s: 500, over: 100ms}":                        "2+ 3- 5+",
	} {
		film := places()
		for i, link := range []float64{math.NaN(), 0.99, 0.5, 0.99, 0.99, 0.95} {
			film[i].Objects.Link = []float64{link}
		}
		rules, got := madeOfObjects(t, text), []string{}
		for _, e := range film {
			for _, g := range rules.Watch(e) {
				got = append(got, fmt.Sprintf("%d%s", g.Seq, map[bool]string{true: "+", false: "-"}[g.On]))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: found %v, expected %s", text, got, want)
		}
	}
}

// TestObjectsRefused: the option object is only for fields, and for rules that need only a position.
func TestObjectsRefused(t *testing.T) {
	for _, c := range []struct {
		text  string
		field bool
		want  string
	}{
		{"zone: {name: a, object: any, box: {z1: [0, 1]}}", false, "set objects.enabled"},
		{"lost: {name: a, object: any}", true, "object: only for rules of the kinds [speed zone]"},
		{"zone: {name: a, certain: 0.9, box: {z1: [0, 1]}}", true, "certain: only for rules with object"},
		{"zone: {name: a, object: any, certain: 1.5, box: {z1: [0, 1]}}", true, "certain: found 1.5, expected a probability"},
		{"zone: {name: a, object: every, box: {z1: [0, 1]}}", true, `found "every", expected any, nearest`},
		{"zone: {name: a, object: '0', box: {z1: [0, 1]}}", true, `found "0"`},
		{"speed: {name: a, object: any, drift: 2}", true, "drift: a single object has no drift of its own"},
	} {
		w := written(t, c.text)
		if _, err := New(w.Kind, w.Decode, Env{Latents: 2, Field: c.field}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, expected %q", c.text, err, c.want)
		}
	}
}

// TestObjectsAllocateNothing: watching a thousand known objects allocates no memory.
func TestObjectsAllocateNothing(t *testing.T) {
	e := &latent.Estimate{Objects: &latent.Objects{}}
	for id := range uint64(1000) {
		o := e.Objects
		o.ID, o.X, o.Y, o.SD, o.D, o.Marks = append(o.ID, id+1), append(o.X, float64(id)), append(o.Y, 50), append(o.SD, 0.1), append(o.D, 1), append(o.Marks, 0)
	}
	rules := madeOfObjects(t, "zone: {name: a, object: any, centroid_px: {x: [100, 200], y: [0, 100]}}")
	if first := rules.Watch(e); len(first) != 101 || !reflect.DeepEqual(first[0].Centroid, []float64{100, 50}) {
		t.Fatalf("%d objects are inside", len(first))
	}
	if n := testing.AllocsPerRun(20, func() { rules.Watch(e) }); n != 0 {
		t.Errorf("%g allocations a frame", n)
	}
}

// TestObjectsForecast: the forecast of an object is its position, with a variance that grows by its own diffusion during the lead.
func TestObjectsForecast(t *testing.T) {
	film := dish(map[uint64]float64{1: 110}, map[uint64]float64{1: 10})
	film[0].Lead = 0.5 // D is 1 px²/s, and the position has a standard deviation of 0.1 px
	rules := madeOfObjects(t, "zone: {name: a, object: any, box: {z1: [100, 200]}}")
	in := rules.Watch(film[0])[0]
	if sd := math.Sqrt(0.01 + 1); in.Lead != 500*time.Millisecond || !reflect.DeepEqual(in.Forecast, []float64{110, 50}) || !reflect.DeepEqual(in.ForecastSD, []float64{sd, sd}) {
		t.Errorf("found %+v", in)
	}
	if out := rules.Watch(film[1])[0]; out.Lead != 0 || out.Forecast != nil {
		t.Errorf("found %+v, expected no forecast", out)
	}
}
