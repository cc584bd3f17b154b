package file

import (
	"math"
	"time"

	"driftscope/internal/flow/latent"
)

// object writes one position. The first columns have the names that pandas, trackpy and TrackMate users expect.
func (t *table) object(n *node, latents int) {
	t.begin(shape{dims: latents})
	t.whole("frame", n.frame)
	t.whole("particle", n.particle)
	t.number("x", n.x)
	t.number("y", n.y)
	t.number("sd", n.sd)
	t.number("diffusion_px2_s", n.d)
	t.number("doubt", n.doubt)
	t.whole("marks", uint64(n.marks))
	t.flag("filled", n.filled)
	t.number("p_link", n.link)
	t.number("x_located", n.xLocated)
	t.number("y_located", n.yLocated)
	t.flag("located", n.located)
	t.instant("time", time.Unix(0, n.at))
	t.numbers("z", n.z, latents)
	t.numbers("z_sd", n.zSD, latents)
}

// track writes an event of an object's track: the fields of a TrackRecord.
func (t *table) track(m *latent.Track) {
	t.begin(shape{})
	t.whole("seq", m.Seq)
	t.instant("time", m.Time)
	t.whole("particle", m.ID)
	t.text("change", string(m.Change))
	t.text("why", m.Why)
	t.whole("first_seq", m.First)
	t.whole("last_seq", m.Last)
	t.whole("frames", m.Frames)
	t.number("x_px", m.X)
	t.number("y_px", m.Y)
	t.number("path_px", m.Path)
	t.number("velocity_px_s_0", m.DriftX)
	t.number("velocity_px_s_1", m.DriftY)
	t.flag("directed", m.Runs)
	t.ranges(m.Px, m.UM)
	t.motion(m.Motion)
	if m.Shrunk == (latent.Range{}) {
		m = &latent.Track{Shrunk: latent.Range{D: math.NaN(), Low: math.NaN(), High: math.NaN()}}
	}
	t.number("diffusion_shrunk_px2_s", m.Shrunk.D)
	t.number("diffusion_shrunk_px2_s_low", m.Shrunk.Low)
	t.number("diffusion_shrunk_px2_s_high", m.Shrunk.High)
}

// motion writes the class of a track and its exponent. Unknown values are NaN.
func (t *table) motion(m *latent.Motion) {
	none := math.NaN()
	if m == nil {
		m = &latent.Motion{Alpha: latent.Bounds{Value: none, Low: none, High: none}, Radius: none, Speed: none}
	}
	t.text("class", m.Class)
	t.number("alpha", m.Alpha.Value)
	t.number("alpha_low", m.Alpha.Low)
	t.number("alpha_high", m.Alpha.High)
	t.number("radius_px", m.Radius)
	t.number("speed_px_s", m.Speed)
}

// mostStates is the number of states of a population's law that have columns.
const mostStates = 6

// states writes the states of the population's law.
func (t *table) states(l *latent.PopulationLaw) {
	var d, low, high, share, shareLow, shareHigh []float64
	if l == nil {
		l = &latent.PopulationLaw{Nats: math.NaN(), Spread: latent.Bounds{Value: math.NaN()}}
	}
	for _, s := range l.States {
		d, low, high = append(d, s.Px.D), append(low, s.Px.Low), append(high, s.Px.High)
		share, shareLow, shareHigh = append(share, s.Share.Value), append(shareLow, s.Share.Low), append(shareHigh, s.Share.High)
	}
	t.whole("states", uint64(len(l.States)))
	t.numbers("state_px2_s", d, mostStates)
	t.numbers("state_px2_s_low", low, mostStates)
	t.numbers("state_px2_s_high", high, mostStates)
	t.numbers("share", share, mostStates)
	t.numbers("share_low", shareLow, mostStates)
	t.numbers("share_high", shareHigh, mostStates)
	t.number("spread", l.Spread.Value)
	t.number("switching_nats", l.Nats)
	t.text("law", l.Says)
}

// ranges writes a diffusion in both units. Unknown values are NaN.
func (t *table) ranges(px, um latent.Range) {
	if um == (latent.Range{}) {
		um = latent.Range{D: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	t.number("diffusion_px2_s", px.D)
	t.number("diffusion_px2_s_low", px.Low)
	t.number("diffusion_px2_s_high", px.High)
	t.number("diffusion_um2_s", um.D)
	t.number("diffusion_um2_s_low", um.Low)
	t.number("diffusion_um2_s_high", um.High)
}

// population writes all objects together: the fields of a PopulationRecord. The spectrum's edges never change.
func (t *table) population(m *latent.Population) {
	t.begin(shape{dims: len(m.Spectrum)})
	t.whole("seq", m.Seq)
	t.instant("time", m.Time)
	t.whole("count", uint64(m.Count))
	t.whole("spots", uint64(m.Spots))
	t.number("density_px", m.PerPixel)
	t.number("density_um", m.PerUM)
	t.whole("births", m.Births)
	t.whole("deaths", m.Deaths)
	t.whole("unjudged", m.Unjudged)
	t.whole("unweighed", m.Unweighed)
	t.number("links_wrong", m.Wrong)
	t.number("links_unknown", m.Unlinked)
	t.number("links_wrong_faster", m.Faster)
	t.number("links_wrong_slower", m.Slower)
	t.whole("directed", uint64(m.DirectedN))
	t.number("detected", m.Detected)
	t.number("template_px", m.Template)
	t.whole("tracks", m.Tracks)
	t.whole("steps", m.Steps)
	t.ranges(m.Px, m.UM)
	t.number("noise_px", m.Noise)
	t.numbers("spectrum_px2_s", m.Edges, len(m.Edges))
	t.numbers("spectrum", m.Spectrum, len(m.Spectrum))
	t.number("common_velocity_px_s_0", m.CommonX)
	t.number("common_velocity_px_s_1", m.CommonY)
	t.number("common_velocity_sd_px_s", m.CommonSD)
	t.number("common_shift_px_0", m.ShiftX)
	t.number("common_shift_px_1", m.ShiftY)
	t.states(m.Law)
}
