package infer_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// clocked returns a model file whose encoder computes mean = 2 Σ pixels + 3t and log sd = -t. names are the inputs: first a picture of 1×2, then numbers.
// seconds is the card's clock_s.
func clocked(t testing.TB, seconds float64, names ...string) []byte {
	t.Helper()
	in := card.Input{Channels: 1, Height: 1, Width: 2}
	g := newGraph(names[0], 1, 1, 1, 2)
	axis := card.Attr{Name: "axis", Value: 1}
	g.flatten("seen")
	for _, name := range names[1:] {
		g.Inputs = append(g.Inputs, card.Value{Name: name, Shape: []int{1, 1}})
		g.node("Concat", name+".beside", []string{name}, axis)
	}
	features := g.last
	mean, sd := []float32{2, 2, 3, 0}, []float32{0, 0, -1, 0}
	g.gemm("mean", mean[:len(names)+1], []float32{0})
	g.last = features
	g.gemm("log_sd", sd[:len(names)+1], []float32{0})
	c := cardFor(in, 1)
	c.Clock = seconds
	one := []int{1, 1}
	data, err := card.Write(c, g.outputs(card.Value{Name: "mean", Shape: one}, card.Value{Name: "log_sd", Shape: one}), nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// at returns a picture of ones at the time 5 s + seconds, in a trajectory.
func at(t testing.TB, seconds float64, trajectory uint64) *frame.Frame {
	t.Helper()
	m := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(1, 0, 0, 0), 1, 2, gocv.MatTypeCV32FC1)
	f := frame.New(7, time.Unix(5, 0).Add(time.Duration(seconds*1e9)), frame.Meta{Trajectory: trajectory}, m)
	t.Cleanup(func() { f.Close() })
	return f
}

// TestClock: the clock starts at each trajectory's first frame and stops at clock_s. A frame earlier than the first has the time 0.
func TestClock(t *testing.T) {
	m, err := infer.Parse("clock.onnx", clocked(t, 10, "x", "t"))
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, m)
	var z latent.Latent
	for _, f := range []struct {
		seconds    float64
		trajectory uint64
		want       float64
	}{{1, 3, 0}, {1.5, 3, 0.5}, {11, 3, 10}, {400, 3, 10}, {0, 3, 0}, {402, 4, 0}, {404.25, 4, 2.25}, {405, 3, 0}} {
		if err := e.Encode(context.Background(), &z, at(t, f.seconds, f.trajectory)); err != nil {
			t.Fatal(err)
		}
		if math.Abs(z.Mean[0]-4-3*f.want) > 1e-5 || math.Abs(math.Log(z.SD[0])+f.want) > 1e-6 { // float32
			t.Errorf("%g s, trajectory %d: found %g ± %g, expected a clock of %g s", f.seconds, f.trajectory, z.Mean[0], z.SD[0], f.want)
		}
	}
	f := at(t, 406, 3)
	if n := testing.AllocsPerRun(10, func() { _ = e.Encode(context.Background(), &z, f) }); n != 0 {
		t.Errorf("found %g allocations a frame, expected none", n)
	}
}

func TestClockContradicts(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		names   []string
		want    string
	}{
		{0, []string{"x", "t"}, `inputs are ["x" "t"], but a card without clock_s`},
		{10, []string{"x"}, `inputs are ["x"], but the card's clock_s: 10 needs a picture followed by "t"`},
		{10, []string{"t"}, `inputs are ["t"], but the card's clock_s`},
		{10, []string{"x", "time"}, `inputs are ["x" "time"], but the card's clock_s`},
		{10, []string{"x", "t", "u"}, `inputs are ["x" "t" "u"], but the card's clock_s`},
	} {
		_, err := infer.Parse("clock.onnx", clocked(t, c.seconds, c.names...))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "clock.onnx") {
			t.Errorf("clock_s %g, inputs %q: found %v, expected %q in it", c.seconds, c.names, err, c.want)
		}
	}
}
