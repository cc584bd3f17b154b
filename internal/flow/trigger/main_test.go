package trigger

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// written returns the component in a YAML text, such as {zone: {name: a, ...}}.
func written(t testing.TB, text string) config.Component {
	t.Helper()
	c, err := config.Parse("c.yaml", []byte("source: sim\ntriggers:\n  - "+text+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return c.Triggers[0]
}

// made returns the rule in a YAML text, for a model with two latents.
func made(t testing.TB, text string) *Rule {
	t.Helper()
	c := written(t, text)
	r, err := New(c.Kind, c.Decode, Env{Latents: 2, PixelUM: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// frames returns estimates, one every 10 ms. Each starts at rest at the origin, and at changes it.
func frames(n int, at func(i int, e *latent.Estimate)) []*latent.Estimate {
	all := make([]*latent.Estimate, n)
	for i := range all {
		all[i] = &latent.Estimate{
			Latent: latent.Latent{
				Seq: uint64(i), Time: epoch.Add(time.Duration(i) * 10 * time.Millisecond), Mean: []float64{0, 0}, Centroid: []float64{100, 100},
			},
			Drift: []float64{0, 0}, Filtered: []float64{0, 0}, FilteredSD: []float64{0.1, 0.1},
			SDE: latent.SDE{
				Transitions: 100, Sigma: []float64{1, 1}, SigmaLow: []float64{0.9, 0.9}, SigmaHigh: []float64{1.1, 1.1},
				Activity: []latent.Activity{latent.Active, latent.Active},
			},
		}
		at(i, all[i])
	}
	return all
}

// along returns frames in which z1 takes the given values.
func along(z1 ...float64) []*latent.Estimate {
	return frames(len(z1), func(i int, e *latent.Estimate) { e.Filtered[0] = z1[i] })
}

// fired returns the frames at which a rule begins and ends, such as "+3 -7".
func fired(r *Rule, all []*latent.Estimate) string {
	var turns []string
	for _, e := range all {
		if g := r.look(e); g != nil {
			turns = append(turns, fmt.Sprintf("%s%d", map[bool]string{true: "+", false: "-"}[g.On], g.Seq))
		}
	}
	return strings.Join(turns, " ")
}

// fires checks the frames at which the rule in each text begins and ends.
func fires(t *testing.T, all []*latent.Estimate, want map[string]string) {
	t.Helper()
	for text, want := range want {
		if got := fired(made(t, text), all); got != want {
			t.Errorf("%s: found %q, expected %q", text, got, want)
		}
	}
}

// refuses checks the errors for wrong options.
func refuses(t *testing.T, want map[string]string) {
	t.Helper()
	for text, want := range want {
		c := written(t, text)
		_, err := New(c.Kind, c.Decode, Env{Latents: 2})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: found %v, expected one line with %q", text, err, want)
		}
	}
}

// repeated returns a slice with n times v.
func repeated(n int, v ...float64) []float64 { return slices.Repeat(v, n) }
