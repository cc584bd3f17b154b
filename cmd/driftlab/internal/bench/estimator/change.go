package estimator

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online"
)

// lawChange is a law in two dimensions, with σ = 1, that changes at frame changeFrame.
type lawChange struct {
	name          string
	before, after func(mu, z []float64)
	sigma         float64 // after the change
}

var lawChanges = []lawChange{
	{"spring's centre moves", springAbout(0), springAbout(0.6), 1},
	{"circle reverses", turning(3), turning(-3), 1},
	{"σ grows to 1.5", springAbout(0), springAbout(0), 1.5},
}

const (
	changeFrame  = 1000
	changeWindow = 300 // frames of the current law over which the drift is judged, or fewer if it is younger
)

// changeFrames are the numbers of frames at which the drift is judged. The last comes after 4096 transitions of the new law,
// which is the estimator's memory.
var changeFrames = []int{300, 1000, 1100, 1300, 2000, 3000, 5097}

// springAbout is -4(z - c) in both coordinates.
func springAbout(c float64) func(mu, z []float64) {
	return func(mu, z []float64) { mu[0], mu[1] = -4*(z[0]-c), -4*(z[1]-c) }
}

// turning is a spring of 1/s about which the law circles at omega.
func turning(omega float64) func(mu, z []float64) {
	return func(mu, z []float64) { mu[0], mu[1] = -z[0]-omega*z[1], omega*z[0]-z[1] }
}

// changeRow is L_μ around one change, as means over runs.
type changeRow struct {
	SDE    string    `json:"sde"`
	Change int       `json:"change"`     // frame of the change
	Frames []int     `json:"frames"`     // seen
	LMu    []float64 `json:"l_mu"`       // after each of Frames
	Fresh  []float64 `json:"fresh_l_mu"` // an estimator that saw only the current law
	Zero   []float64 `json:"zero_l_mu"`
	Alarms []alarmed `json:"alarms"` // at several thresholds
}

// measureChange fills f.Change.
func measureChange(f *onlineFindings, s *simulations) error {
	found := make([]changeRow, len(lawChanges)*s.runs)
	err := s.each(len(lawChanges), s.runs, func(cell, run int) (err error) {
		found[cell*s.runs+run], err = lawChanges[cell].follow(changeFrames, s.random(cell, run))
		return err
	})
	if err != nil {
		return err
	}
	for i, change := range lawChanges {
		n := len(changeFrames)
		row := changeRow{SDE: change.name, Change: changeFrame, Frames: changeFrames,
			LMu: make([]float64, n), Fresh: make([]float64, n), Zero: make([]float64, n)}
		row.Alarms = alarmsOf(found[i*s.runs:][:s.runs])
		for _, one := range found[i*s.runs:][:s.runs] {
			for k := range n {
				row.LMu[k] += one.LMu[k] / float64(s.runs)
				row.Fresh[k] += one.Fresh[k] / float64(s.runs)
				row.Zero[k] += one.Zero[k] / float64(s.runs)
			}
		}
		f.Change = append(f.Change, row)
	}
	return nil
}

// follow walks through the change, and judges the drift at the given frames. A second estimator starts at the change.
func (c *lawChange) follow(frames []int, rng *rand.Rand) (row changeRow, err error) {
	var watching []*online.Estimator
	begin := func() error {
		estimator, err := online.New(online.Config{Dim: 2, Seed: rng.Uint64(), Deterministic: true})
		watching = append(watching, estimator)
		return err
	}
	defer func() {
		for _, estimator := range watching {
			estimator.Close()
		}
	}()
	if err := begin(); err != nil {
		return row, err
	}
	for _, threshold := range alarmThresholds {
		row.Alarms = append(row.Alarms, alarmed{Threshold: threshold})
	}
	var estimate latent.Estimate
	var path []passed
	law, sigma, z, dt := c.before, 1., make([]float64, 2), sigmaStep.Seconds()
	for k := range frames[len(frames)-1] {
		if k == changeFrame {
			law, sigma, path = c.after, c.sigma, nil
			if err := begin(); err != nil {
				return row, err
			}
		}
		here := passed{append([]float64(nil), z...), make([]float64, 2)}
		law(here.mu, z)
		path = append(path, here)
		l := latent.Latent{Seq: uint64(k), Time: time.Unix(0, 0).Add(time.Duration(k) * sigmaStep), Mean: here.z}
		for _, estimator := range watching {
			if err := estimator.Update(&estimate, &l); err != nil {
				return row, err
			}
		}
		row.hear(k, watching[0].Evidence())
		for i := range z {
			z[i] += here.mu[i]*dt + sigma*math.Sqrt(dt)*rng.NormFloat64()
		}
		if k+1 == frames[len(row.LMu)] {
			row.judge(path[max(0, len(path)-changeWindow):], watching)
		}
	}
	return row, nil
}

// judge appends L_μ on the path for the full estimator and the latest one.
func (r *changeRow) judge(path []passed, watching []*online.Estimator) {
	r.LMu = append(r.LMu, missed(path, watching[0].Drift))
	r.Fresh = append(r.Fresh, missed(path, watching[len(watching)-1].Drift))
	r.Zero = append(r.Zero, missed(path, func(dst, _ []float64) { clear(dst) }))
}

// printChange prints f.Change.
func printChange(f *onlineFindings, w io.Writer) {
	fmt.Fprintf(w, "Change: L_mu on the last %d frames of the law in force, after so many frames; the law changes at %d. In brackets of an estimator that\n"+
		"began there, and without a drift.\n\n", changeWindow, changeFrame)
	fmt.Fprintf(w, "%-22s", "law")
	for _, n := range changeFrames {
		fmt.Fprintf(w, "  %19d", n)
	}
	fmt.Fprintln(w)
	for _, r := range f.Change {
		fmt.Fprintf(w, "%-22s", r.SDE)
		for k := range r.Frames {
			fmt.Fprintf(w, "  %5.2f (%5.2f, %5.2f)", r.LMu[k], r.Fresh[k], r.Zero[k])
		}
		fmt.Fprintln(w)
	}
	printAlarms(f.Change, w)
}
