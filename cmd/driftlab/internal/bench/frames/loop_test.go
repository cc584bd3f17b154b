package frames

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"driftscope/internal/suite"
)

// A path is the law's: its spread is the stationary one, and what the law does not foresee of a step is what diffusion adds.
func TestWalk(t *testing.T) {
	p := whirl.walk(400*time.Second, 1)
	var spread, left float64
	const ahead = 10 * time.Millisecond
	n := 0
	for at := time.Duration(0); at+ahead < 400*time.Second; at += ahead {
		a, _ := p.at(at)
		b, inside := p.at(at + ahead)
		if !inside {
			t.Fatalf("the path ends before %v", at+ahead)
		}
		spread += distance2(a, [2]float64{}) / 2
		left += distance2(whirl.turned(a, ahead.Seconds()), b) / 2
		n++
	}
	// 40,000 steps are as many independent squares an axis: 0.5 % of q. The spread has 400 s times κ of them: 7 %.
	if q := left / float64(n) / whirl.spread(ahead.Seconds()); math.Abs(q-1) > 0.02 {
		t.Errorf("a step's diffusion is %.3f of the law's", q)
	}
	if v := spread / float64(n) / (whirl.sigma * whirl.sigma / (2 * whirl.kappa)); math.Abs(v-1) > 0.25 {
		t.Errorf("the spread is %.3f of the law's", v)
	}
	if _, inside := p.at(401 * time.Second); inside {
		t.Error("the path has no end")
	}
	if _, inside := p.at(-time.Second); inside {
		t.Error("the path has no beginning")
	}
}

// made are pulses of a path, each forecast by a law, from places seen with some error.
func made(by law, late time.Duration, noise float64) []pulse {
	p, rng := whirl.walk(400*time.Second, 2), rand.New(rand.NewPCG(3, 4))
	var pulses []pulse
	for at := time.Duration(0); at < 399*time.Second; at += 20 * time.Millisecond {
		took := late + time.Duration(rng.IntN(10))*grid
		seen, _ := p.at(at)
		now, _ := p.at(at + took)
		last := [2]float64{seen[0] + noise*rng.NormFloat64(), seen[1] + noise*rng.NormFloat64()}
		pulses = append(pulses, pulse{took: took, lead: late, seen: seen, now: now, last: last, forecast: by.turned(last, late.Seconds())})
	}
	return pulses
}

// The factor that the law allows is that of forecasts by the law itself, and none by another reaches it. 20,000 pulses tell the factor to a percent; the error
// of what is seen goes with what is expected of it, which moves the factor by as much where it is small.
func TestFactor(t *testing.T) {
	suite.Calculation(t)
	for _, late := range []time.Duration{5 * time.Millisecond, 12 * time.Millisecond} {
		e := errorsOf(made(whirl, late, 0.01), whirl)
		if math.Abs(e.Factor/e.Allowed-1) > 0.02 || e.Factor < 1.2 || math.Abs(e.Seen/(0.01*math.Sqrt2)-1) > 0.02 {
			t.Errorf("%v late: found %+v, expected the factor that the law allows", late, e)
		}
		slow := whirl
		slow.omega /= 2
		if worse := errorsOf(made(slow, late, 0.01), whirl); worse.Factor > 0.95*e.Factor || worse.Allowed != e.Allowed {
			t.Errorf("%v late, by a law that turns half as fast: found %+v, expected less than %.3f", late, worse, e.Factor)
		}
	}
}

func TestLatency(t *testing.T) {
	var pulses []pulse
	for i := range 101 {
		pulses = append(pulses, pulse{took: time.Duration(i) * time.Millisecond})
	}
	if got, want := latency(pulses), (Latency{P50: 50, P99: 99, Max: 100, Jitter: math.Sqrt(850)}); math.Abs(got.Jitter-want.Jitter) > 1e-9 || got.P50 != want.P50 || got.P99 != want.P99 || got.Max != want.Max {
		t.Errorf("found %+v, expected %+v", got, want)
	}
}

func TestCheck(t *testing.T) {
	good := LoopCommand{FPS: 100, Seconds: 1, Warm: 1, Lead: "auto", Seed: 1}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]LoopCommand{"auto": {}, "auto+4.2ms": {Readout: 4200 * time.Microsecond}, "7ms": {Lead: "7ms", Readout: time.Millisecond}} {
		if got := c.lead(); got != want {
			t.Errorf("found a lead of %s, expected %s", got, want)
		}
	}
	for want, spoil := range map[string]func(*LoopCommand){
		"--fps: found 0": func(c *LoopCommand) { c.FPS = 0 }, "--seconds, --warm: found 0 and 1": func(c *LoopCommand) { c.Seconds = 0 }, `--lead: online.lead: found "soon"`: func(c *LoopCommand) { c.Lead = "soon" },
		"--readout: found 2s": func(c *LoopCommand) { c.Readout = 2 * time.Second },
	} {
		bad := good
		spoil(&bad)
		if err := bad.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

// The loop closes: triggers' bytes arrive, later than light could and sooner than the next second, all but the few that a busy machine brings too late. How soon
// and how well forecast is measured on a machine that has nothing else to do.
func TestLoop(t *testing.T) {
	suite.Long(t)
	c := LoopCommand{FPS: 100, Seconds: 3, Warm: 2, Lead: "5ms", Seed: 1}
	found, err := c.measure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if found.Pulses < 30 || found.Lost*10 > found.Pulses || !(found.Written.P50 > 0 && found.Latency.P50 < 1000) || found.Errors.MedianMS != 5 || !(found.Errors.Forecast > 0) {
		t.Errorf("found %+v", found)
	}
	var page bytes.Buffer
	if found.print(&page); !strings.Contains(page.String(), "| to the driver | ") {
		t.Errorf("found %s", page.String())
	}
}
