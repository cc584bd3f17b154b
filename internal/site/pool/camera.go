package pool

import (
	"fmt"
	"math"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online/combine"
	"driftscope/sinks/message"
)

// camera is the stored part of a record.
type camera struct {
	combine.Camera
	counts
	time    time.Time
	law     uint64  // 1 + the last frame that the law was learnt from; 0 if there is no law
	pixel   float64 // area of a pixel, µm²
	pooled  bool    // the record is from an experiment, not from a camera
	refused string  // why its law cannot be pooled; empty if it can
}

// counts are counters that add up over cameras.
type counts struct {
	count, spots, directed int
	births, deaths         uint64
	tracks, steps          uint64
	detected               float64
}

// mostCounted is the largest accepted count, so that sums of counts do not overflow.
const mostCounted = 1 << 48

// read parses a stream's record and checks its bounds. A record without a law is valid, because the law comes later.
func read(stream string, data []byte) (c camera, err error) {
	decoded, err := message.Decode(latent.KindPopulation, data)
	if err != nil {
		return c, err
	}
	r := decoded.(*message.PopulationRecord)
	if r.Stream != stream {
		return c, fmt.Errorf("the message is from a stream %.70q, expected the stream of its subject", r.Stream)
	}
	if most := max(r.Count, r.Spots, r.Directed); min(r.Count, r.Spots, r.Directed) < 0 || most > mostCounted || max(r.Births, r.Deaths, r.Tracks, r.Steps) > mostCounted {
		return c, fmt.Errorf("counts of %d objects, %d spots, %d births and %d steps, expected 0 to %d", r.Count, r.Spots, r.Births, r.Steps, uint64(mostCounted))
	}
	c.time = r.Time
	c.counts = counts{r.Count, r.Spots, r.Directed, r.Births, r.Deaths, r.Tracks, r.Steps, float64(r.Detected)}
	l := r.Law
	switch {
	case l == nil:
		return c, nil
	case len(l.Cameras) > 0:
		c.pooled, c.refused = true, "its law is already pooled from several cameras"
		return c, nil
	case len(l.UM) == 0:
		c.refused = "its pixel size is unknown, but D is pooled in µm²/s: give online.pixel_um in its configuration"
		return c, nil
	}
	c.law = l.Seq + 1
	c.Camera = lawOf(stream, r)
	c.pixel = l.UM[0] / message.At(l.D, 0)
	return c, c.Check()
}

// lawOf returns a record's law as numbers. Lists that are too short give NaN, which Check refuses.
func lawOf(stream string, r *message.PopulationRecord) combine.Camera {
	l := r.Law
	c := combine.Camera{Name: stream, Tracks: l.Tracks, Steps: l.Steps, Spread: combine.Interval{Value: float64(l.Spread), Low: float64(l.SpreadLow), High: float64(l.SpreadHigh)}}
	for i, d := range l.UM {
		c.States = append(c.States, combine.State{
			D:     combine.Interval{Value: d, Low: message.At(l.UMLow, i), High: message.At(l.UMHigh, i)},
			Share: combine.Interval{Value: message.At(l.Share, i), Low: message.At(l.ShareLow, i), High: message.At(l.ShareHigh, i)},
		})
	}
	if r.UM != nil && r.UMLow != nil && r.UMHigh != nil && finite(float64(*r.UM), float64(*r.UMLow), float64(*r.UMHigh)) {
		c.D = combine.Interval{Value: float64(*r.UM), Low: float64(*r.UMLow), High: float64(*r.UMHigh)}
	}
	if finite(float64(l.Nats)) && finite(l.Rates...) {
		c.Rates, c.Nats = l.Rates, float64(l.Nats)
	}
	return c
}

func finite(numbers ...float64) bool {
	for _, n := range numbers {
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return false
		}
	}
	return true
}
