package estimator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"gonum.org/v1/gonum/stat"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/recording"
	"driftscope/online"
	"driftscope/preprocess"
)

// RecordingsCommand measures three real recordings with a known answer. No encoder is trained: the latents are the objects' centroids in pixels, so the study
// judges the estimator alone.
type RecordingsCommand struct {
	Data string `required:"" help:"Folder with deeptrack-trap-good, pims-stuck-16bit and trackpy-bulk-water." placeholder:"DIR" type:"path"`
	JSON bool   `name:"json" help:"Print one JSON object instead of a table."`
}

// Help explains the measurement, below the command's own help.
func (c *RecordingsCommand) Help() string {
	return "The latents are centroids in pixels; no encoder is trained. Trapped bead: rate, sigma and stiffness of each axis, from a likelihood with localisation noise, compared with least " +
		"squares of the increments on the position and with equipartition. Stuck beads: sigma of one resting bead. Colloids: the diffusion of single particles, pooled, by the online " +
		"estimator, calibrated by the pixel size."
}

// Known properties of the recordings, from their SOURCE.txt.
const (
	stuckRadius = 3  // px, of a bead: its spot has an sd of 1.3
	stuckApart  = 12 // px, to the next bead in the first picture
	waterRadius = 5  // px, of a colloid
	waterReach  = 5  // px, ten times the motion of a colloid along one axis between frames
	waterApart  = 18 // px
	waterFPS    = 24.
	waterUM     = 1 / 2.85 // side of a pixel
	waterEvery  = 2        // frames from one that counts to the next; see slower
)

// figure is a number with its 95 % interval.
type figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (f figure) holds(v float64) bool { return f.Low <= v && v <= f.High }

func (f figure) String() string { return fmt.Sprintf("%.3g [%.3g, %.3g]", f.Value, f.Low, f.High) }

// trapAxis is one coordinate of the trapped bead. Times are in frames: the recording's frame rate is not known.
type trapAxis struct {
	Axis      string  `json:"axis"`
	Rate      figure  `json:"rate_per_frame"`
	Sigma     figure  `json:"sigma_px_per_sqrt_frame"`
	Stiffness figure  `json:"stiffness_kt_per_px2"`
	Noise     float64 `json:"noise_px"`
	Online    figure  `json:"online_sigma_px_per_sqrt_frame"` // of the online estimator, about the drift that it refined meanwhile

	LeastSquaresRate  float64 `json:"least_squares_rate_per_frame"` // of increments on the position
	LeastSquaresSigma float64 `json:"least_squares_sigma_px_per_sqrt_frame"`
	Equipartition     float64 `json:"equipartition_kt_per_px2"` // the inverse of the variance
}

// recordingFindings is the output of bench recordings.
type recordingFindings struct {
	Trap  []trapAxis `json:"trap"`
	Stuck struct {
		Sigma  figure  `json:"sigma_px_per_sqrt_frame"` // of the heaviest bead
		Noise  float64 `json:"noise_px"`
		Frames int     `json:"frames"`
		Beads  int     `json:"beads"`     // seen in every frame
		Below  int     `json:"below_0_2"` // of these beads, with an upper limit of sigma below 0.2 px a root frame
	} `json:"stuck"`
	Water struct {
		D      figure   `json:"diffusion_um2_s"` // from every second frame
		ROIs   int      `json:"rois"`
		Frames int      `json:"frames"`
		Slower []slower `json:"slower"`
	} `json:"water"`
}

// slower is the colloids' diffusion from every n-th frame only, for several n. Exposure and compression carry a part of earlier pictures into a picture, and so
// reduce the motion between two of them. The estimator corrects only for the exposure of one frame.
type slower struct {
	Every int     `json:"every"`
	D     figure  `json:"diffusion_um2_s"`
	X     float64 `json:"x_um2_s"`
	Y     float64 `json:"y_um2_s"`
}

// Run measures and prints.
func (c *RecordingsCommand) Run(ctx context.Context) error {
	found := &recordingFindings{}
	for _, measure := range []func(context.Context, *recordingFindings) error{c.trap, c.stuck, c.water} {
		if err := measure(ctx, found); err != nil {
			return err
		}
	}
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(found)
	}
	found.print(os.Stdout)
	return nil
}

// pictures reads a recording's raw frames.
func (c *RecordingsCommand) pictures(ctx context.Context, parts ...string) ([]recording.GreyFrame, error) {
	path := filepath.Join(append([]string{c.Data}, parts...)...)
	rec, err := recording.Open(path, 1, 0, "", recording.Whole)
	if err != nil {
		return nil, err
	}
	var frames []recording.GreyFrame
	_, err = rec.Each(ctx, nil, func(f *frame.Frame) error {
		g, err := recording.Grey(f)
		frames = append(frames, g)
		return err
	})
	if err == nil && len(frames) == 0 {
		err = fmt.Errorf("%s gave no frame: download it anew", path)
	}
	return frames, err
}

// journey is a path in pixels, one place a frame of dt seconds. Its centroids are the latents themselves.
func journey(trajectory uint64, places []preprocess.Point, dt float64) []latent.Latent {
	path := make([]latent.Latent, len(places))
	for k, p := range places {
		at := []float64{p.X, p.Y}
		path[k] = latent.Latent{Seq: uint64(k), Time: time.Unix(0, int64(1e9*dt*float64(k))), Trajectory: trajectory, Mean: at, SD: []float64{0, 0}, Centroid: at}
	}
	return path
}

// estimate runs the online estimator over a path and returns its final law.
func estimate(path []latent.Latent, c online.Config) (*latent.SDE, error) {
	c.Dim, c.Seed, c.Deterministic = 2, 1, true
	e, err := online.New(c)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	dst := new(latent.Estimate)
	for i := range path {
		if err := e.Update(dst, &path[i]); err != nil {
			return nil, err
		}
	}
	return &dst.SDE, nil
}

// trap measures the trapped bead.
func (c *RecordingsCommand) trap(ctx context.Context, found *recordingFindings) error {
	frames, err := c.pictures(ctx, "deeptrack-trap-good", "trap-good.mp4")
	if err != nil {
		return err
	}
	var pictures [][]float32
	for _, g := range frames {
		pictures = append(pictures, g.Pixels)
	}
	places, err := recording.Track(pictures, frames[0].Width, frames[0].Height)
	if err != nil {
		return err
	}
	path := journey(0, places, 1)
	law, err := estimate(path, online.Config{})
	if err != nil {
		return err
	}
	for i, name := range []string{"x", "y"} {
		s, err := Relaxation(path, i)
		if err != nil {
			return err
		}
		if math.IsInf(s.RateHigh, 1) {
			return fmt.Errorf("trap-good.mp4, %s: the bead's position does not persist from frame to frame: download the recording again", name)
		}
		a := trapAxis{Axis: name, Rate: figure{s.Rate, s.RateLow, s.RateHigh}, Sigma: figure{s.Sigma, s.SigmaLow, s.SigmaHigh},
			Stiffness: figure{s.Stiffness, s.StiffnessLow, s.StiffnessHigh}, Noise: s.Noise,
			Online: figure{law.Sigma[i], law.SigmaLow[i], law.SigmaHigh[i]}}
		a.leastSquares(path, i)
		found.Trap = append(found.Trap, a)
	}
	return nil
}

// leastSquares adds the result of an analysis without a noise model, with one frame as the unit of time.
func (a *trapAxis) leastSquares(path []latent.Latent, axis int) {
	var x, dx, all []float64
	for k := range path {
		all = append(all, path[k].Mean[axis])
		if k > 0 {
			x, dx = append(x, path[k-1].Mean[axis]), append(dx, path[k].Mean[axis]-path[k-1].Mean[axis])
		}
	}
	at, slope := stat.LinearRegression(x, dx, nil, false)
	var square float64
	for k := range x {
		square += math.Pow(dx[k]-at-slope*x[k], 2) / float64(len(x)-2)
	}
	a.LeastSquaresRate, a.LeastSquaresSigma, a.Equipartition = -slope, math.Sqrt(square), 1/stat.Variance(all, nil)
}

// stuck measures resting beads, one at a time.
func (c *RecordingsCommand) stuck(ctx context.Context, found *recordingFindings) error {
	tracks, n, err := c.follow(ctx, spotFinder{radius: stuckRadius, share: 0.3}, stuckRadius, stuckApart, "pims-stuck-16bit", "stuck.tif")
	if err != nil {
		return err
	}
	s := &found.Stuck
	s.Frames, s.Beads = n, len(tracks)
	for i, t := range tracks {
		w, err := FreeWalk(journey(0, t.places(), 1))
		if err != nil {
			return err
		}
		if w.SigmaHigh < 0.2 {
			s.Below++
		}
		if i == 0 {
			s.Sigma, s.Noise = figure{w.Sigma, w.SigmaLow, w.SigmaHigh}, w.Noise
		}
	}
	return nil
}

// water measures colloids, each in a region of its own, and pools them as trajectories of one law.
func (c *RecordingsCommand) water(ctx context.Context, found *recordingFindings) error {
	tracks, n, err := c.follow(ctx, spotFinder{radius: waterRadius, dark: true, share: 0.3}, waterReach, waterApart, "trackpy-bulk-water", "*.png")
	if err != nil {
		return err
	}
	w := &found.Water
	w.ROIs, w.Frames = len(tracks), n
	for every := 1; every <= 3; every++ {
		d, err := colloids(tracks, every)
		if err != nil {
			return err
		}
		w.Slower = append(w.Slower, d)
	}
	w.D = w.Slower[waterEvery-1].D
	return nil
}

// colloids pools tracks into one law.
func colloids(tracks []*spotTrack, every int) (slower, error) {
	var path []latent.Latent
	for i, t := range tracks {
		var places []preprocess.Point
		for k := 0; k < len(t.spots); k += every {
			places = append(places, t.spots[k].at)
		}
		path = append(path, journey(uint64(i), places, float64(every)/waterFPS)...)
	}
	law, err := estimate(path, online.Config{PixelUM: waterUM, Refresh: uint64(len(path))})
	if err != nil {
		return slower{}, err
	}
	if state := law.Units.Calibration; state != latent.Calibrated {
		return slower{}, fmt.Errorf("colloids of every frame in %d: the calibration is %q though the latents are the centroids: check the recording", every, state)
	}
	um := &law.Units.UM
	return slower{every, figure{um.D, um.Low, um.High}, um.X, um.Y}, nil
}

// follow finds spots in a recording of n frames and returns the tracks that span all frames and begin isolated, the heaviest first.
func (c *RecordingsCommand) follow(ctx context.Context, f spotFinder, reach, apart float64, parts ...string) (tracks []*spotTrack, n int, err error) {
	frames, err := c.pictures(ctx, parts...)
	if err != nil {
		return nil, 0, err
	}
	var found [][]spot
	for k, g := range frames {
		spots, err := f.find(g)
		if err != nil {
			return nil, 0, fmt.Errorf("%s, frame %d: %w", filepath.Join(parts...), k, err)
		}
		found = append(found, spots)
	}
	tracks = isolated(linkSpots(found, reach), len(frames), apart)
	if len(tracks) == 0 {
		return nil, 0, fmt.Errorf("%s: no object stands alone and is seen in all %d frames: download it anew", filepath.Join(parts...), len(frames))
	}
	return tracks, len(frames), nil
}

// places are a track's centroids.
func (t *spotTrack) places() []preprocess.Point {
	var places []preprocess.Point
	for _, s := range t.spots {
		places = append(places, s.at)
	}
	return places
}

// print writes the findings for a person.
func (f *recordingFindings) print(w io.Writer) {
	fmt.Fprintf(w, "Latents are centroids in pixels; no encoder is trained. Intervals are 95 %%.\n\nTrapped bead, units of frames, pixels and kT:\n")
	for _, a := range f.Trap {
		fmt.Fprintf(w, "  %s  rate %s, least squares %.3g; sigma %s, online %s, least squares %.3g; stiffness %s, equipartition %.3g; noise %.2g px\n",
			a.Axis, a.Rate, a.LeastSquaresRate, a.Sigma, a.Online, a.LeastSquaresSigma, a.Stiffness, a.Equipartition, a.Noise)
	}
	fmt.Fprintf(w, "Stuck bead, %d frames: sigma %s px/frame^½, noise %.2g px; the upper limit is below 0.2 for %d of %d beads\n", f.Stuck.Frames, f.Stuck.Sigma, f.Stuck.Noise, f.Stuck.Below, f.Stuck.Beads)
	fmt.Fprintf(w, "Colloids, %d of them through %d frames: D %s µm²/s\n", f.Water.ROIs, f.Water.Frames, f.Water.D)
	for _, d := range f.Water.Slower {
		fmt.Fprintf(w, "  from every frame in %d: D %s µm²/s (x %.3g, y %.3g)\n", d.Every, d.D, d.X, d.Y)
	}
}
