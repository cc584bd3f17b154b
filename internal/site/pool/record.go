package pool

import (
	"math"

	"driftscope/internal/flow/latent"
	"driftscope/online/combine"
	"driftscope/sinks/message"
)

// unknown is null in JSON.
var unknown = math.NaN()

// alike is the largest relative difference between equal pixel areas, which rounding in records causes.
const alike = 1e-6

// recordOf pools the laws of members, and makes the experiment's record.
func recordOf(name string, in []*member) *message.PopulationRecord {
	cameras := make([]combine.Camera, len(in))
	for i, m := range in {
		cameras[i] = m.Camera
	}
	l := combine.Pool(cameras)
	r := &message.PopulationRecord{
		Header:   message.Header{V: latent.Version, Kind: latent.KindPopulation, Stream: name},
		PerPixel: message.Number(unknown), Template: message.Number(unknown), Noise: message.Number(unknown), CommonSD: message.Number(unknown),
		Common: message.Numbers{unknown, unknown}, Shift: message.Numbers{unknown, unknown},
	}
	addUp(r, in)
	pixel := pixelOf(in)
	r.Px, r.PxLow, r.PxHigh = message.Number(unknown), message.Number(unknown), message.Number(unknown)
	if d := l.D; d.Value > 0 {
		r.Px, r.PxLow, r.PxHigh = message.Number(d.Value/pixel), message.Number(d.Low/pixel), message.Number(d.High/pixel)
		r.UM, r.UMLow, r.UMHigh = number(d.Value), number(d.Low), number(d.High)
	}
	r.Law = lawRecord(l, pixel)
	for i := range cameras {
		r.Law.Cameras = append(r.Law.Cameras, cameras[i].Name)
	}
	return r
}

// addUp adds up the counts of all members.
func addUp(r *message.PopulationRecord, in []*member) {
	detected := 0.0
	for _, m := range in {
		if m.time.After(r.Time) {
			r.Time = m.time.UTC()
		}
		r.Count, r.Spots, r.Directed = r.Count+m.count, r.Spots+m.spots, r.Directed+m.directed
		r.Births, r.Deaths = r.Births+m.births, r.Deaths+m.deaths
		r.Tracks, r.Steps = r.Tracks+m.tracks, r.Steps+m.steps
		detected += m.detected * float64(m.count)
	}
	r.Detected = message.Number(detected / float64(r.Count))
}

// pixelOf returns the area of a pixel, µm², if it is equal for all cameras. Otherwise px²/s have no meaning, and it returns NaN.
func pixelOf(in []*member) float64 {
	for _, m := range in {
		if !(math.Abs(m.pixel/in[0].pixel-1) < alike) {
			return unknown
		}
	}
	return in[0].pixel
}

// lawRecord returns the record of l.
func lawRecord(l *combine.Law, pixel float64) *message.LawRecord {
	r := &message.LawRecord{Tracks: l.Tracks, Steps: l.Steps, Spread: message.Number(l.Spread.Value), SpreadLow: message.Number(l.Spread.Low), SpreadHigh: message.Number(l.Spread.High),
		Nats: message.Number(l.Nats), Says: l.Says(), Differ: number(l.Differ)}
	for _, s := range l.States {
		r.D, r.DLow, r.DHigh = append(r.D, s.D.Value/pixel), append(r.DLow, s.D.Low/pixel), append(r.DHigh, s.D.High/pixel)
		r.UM, r.UMLow, r.UMHigh = append(r.UM, s.D.Value), append(r.UMLow, s.D.Low), append(r.UMHigh, s.D.High)
		r.Share, r.ShareLow, r.ShareHigh = append(r.Share, s.Share.Value), append(r.ShareLow, s.Share.Low), append(r.ShareHigh, s.Share.High)
	}
	if len(l.Rates) <= message.MaxLatent { // bound on a list
		r.Rates = l.Rates
	}
	return r
}

func number(v float64) *message.Number { return (*message.Number)(&v) }
