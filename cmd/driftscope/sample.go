//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/ingest/sim"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/evaluation"
	"driftscope/internal/job/reach"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
	"driftscope/online/drift"
)

// sampleCmd samples new paths from a model's law of motion and renders them with its decoder.
type sampleCmd struct {
	Model   string  `required:"" help:"Model file, or embedded:molecule." placeholder:"MODEL.onnx"`
	Frames  int     `help:"Number of frames (default: 1000; for a bridge, the frames of the recording from A to B)." placeholder:"N"`
	Seed    uint64  `default:"1" help:"Seed of the path; the same seed gives the same bytes." placeholder:"S"`
	Out     string  `required:"" help:"New or empty folder. DIR-sheet.png, next to the folder, shows some of the frames." placeholder:"DIR" type:"path"`
	DT      float64 `name:"dt" help:"Seconds between frames (default: as in the model's training)." placeholder:"S"`
	Video   string  `help:"Recording with the frame for --start or the two frames for --between." placeholder:"VIDEO"`
	Start   *uint64 `help:"Begin at this frame of --video (default: at the mean latents of the training)." placeholder:"K"`
	Between string  `help:"Begin exactly at frame A of --video and end at frame B." placeholder:"A,B"`
	Bridge  string  `enum:"learned,brownian" default:"learned" help:"Law of the path between the two frames, the model's or Brownian motion with the model's sigma: ${enum}."`
	Assets  string  `help:"Folder of pictures for sim:NAME, as for simulate." placeholder:"DIR" type:"path"`
}

// Help describes the written folder, below the command's summary.
func (c *sampleCmd) Help() string {
	return "The model's decoder renders the frames with the size and grey levels of its preprocessed input: 8 bits for 0 to 1. " +
		"The folder has the same files as from simulate: pictures, frames.csv, and truth.csv with the latents in the model's units and, except for a bridge, their drift."
}

// Run samples the path, decodes it into the folder, and writes the sheet next to the folder.
func (c *sampleCmd) Run(ctx context.Context) error {
	ends, err := c.check()
	if err != nil {
		return console.Usage(err)
	}
	model, err := reach.OpenSceneModel(c.Model)
	if err != nil {
		return console.Usage(err)
	}
	law, err := c.law(model)
	if err != nil {
		return console.Usage(fmt.Errorf("--model %s: %w", c.Model, err))
	}
	encoder, err := model.NewEncoder()
	if err != nil {
		return err
	}
	defer encoder.Close()
	at, err := c.encode(ctx, model, encoder, ends)
	if err != nil {
		return err
	}
	film, err := c.film(law, at)
	if err != nil && !errors.Is(err, drift.ErrEscaped) {
		err = console.Usage(err)
	}
	if err != nil {
		return err
	}
	film.decoder, film.input = encoder, model.Card.Input
	film.judge(&model.Card)
	if err := sim.Record(ctx, film, c.Out); err != nil {
		return err
	}
	sheet := filepath.Clean(c.Out) + "-sheet.png"
	if err := film.sheet.write(sheet); err != nil {
		return fmt.Errorf("all frames were written, but not their overview: %w", err)
	}
	_, err = fmt.Fprintf(os.Stdout, "%s: %d frames, %.6g s apart, in the model's own coordinates; overview in %s\n", c.Out, c.Frames, film.dt, sheet)
	return err
}

// check rejects contradictory flags. ends are the requested frames of --video: none, the first, or the first and the last.
func (c *sampleCmd) check() (ends []uint64, err error) {
	if c.Between != "" {
		for _, text := range strings.Split(c.Between, ",") {
			k, err := strconv.ParseUint(strings.TrimSpace(text), 10, 63)
			if err != nil {
				return nil, fmt.Errorf("--between %q: expected two frame numbers A,B, such as 20,80", c.Between)
			}
			ends = append(ends, k)
		}
		if len(ends) != 2 || ends[0] == ends[1] {
			return nil, fmt.Errorf("--between %q: expected two frame numbers A,B that differ, such as 20,80", c.Between)
		}
	}
	switch {
	case c.Start != nil && c.Between != "":
		return nil, errors.New("--start and --between both set the beginning: give one of them")
	case c.Start != nil:
		ends = []uint64{*c.Start}
	}
	switch {
	case c.Video == "" && len(ends) > 0:
		return nil, errors.New("--start and --between are frames of a recording: give it with --video")
	case c.Video != "" && len(ends) == 0:
		return nil, fmt.Errorf("--video %s: which of its frames? give --start K, or --between A,B", c.Video)
	case c.Bridge == brownian && c.Between == "":
		return nil, errors.New("--bridge brownian: a bridge has two ends: give --video and --between A,B")
	case !(c.DT >= 0) || math.IsInf(c.DT, 0):
		return nil, fmt.Errorf("--dt: found %g, expected a positive number of seconds", c.DT)
	case c.Frames == 0 && c.Between != "":
		c.Frames = int(min(max(ends[0], ends[1])-min(ends[0], ends[1]), sim.MaxFrames)) + 1
	case c.Frames == 0:
		c.Frames = recording.SimulatedFrames
	}
	if c.Frames < 2 || c.Frames > sim.MaxFrames {
		return nil, fmt.Errorf("--frames: found %d, expected 2 to %d", c.Frames, sim.MaxFrames)
	}
	return ends, vacant(c.Out)
}

// brownian is the value of --bridge that selects zero drift.
const brownian = "brownian"

// law returns the model's law. It refuses a law that cannot be sampled.
func (c *sampleCmd) law(model *infer.Model) (*drift.Law, error) {
	k := &model.Card
	law := &drift.Law{Sigma: k.Sigma, Step: k.DT}
	switch {
	case !model.HasDecoder():
		return nil, errors.New("the model has no decoder, so it cannot render frames: give a model from pretrain")
	case c.Bridge == brownian:
		return law, nil
	case k.Drift == nil:
		return nil, errors.New("the model has no drift, so its law is unknown: give a model from pretrain, or draw a bridge with --bridge brownian")
	case k.Clock > 0:
		return nil, errors.New("its law depends on time, but its file has one drift for all times: draw a bridge with --bridge brownian, or train without --clock")
	}
	law.Drift = sdevae.DriftOf(k)
	return law, nil
}

// encode returns the latents at frames of --video, or the training mean if none are requested. The encoder processes every frame
// up to the last requested one, because preprocessing has state and a model's clock starts with its first frame.
func (c *sampleCmd) encode(ctx context.Context, model *infer.Model, encoder *infer.Encoder, frames []uint64) ([][]float64, error) {
	if len(frames) == 0 {
		return [][]float64{model.Card.Mean}, nil
	}
	rec, err := recording.Open(c.Video, 0, 0, c.Assets, recording.Span{From: 0, To: slices.Max(frames) + 1})
	if err != nil {
		return nil, err
	}
	at, read := make([][]float64, len(frames)), 0
	var z latent.Latent
	if _, err := rec.Each(ctx, model.Card.Preprocess, func(f *frame.Frame) error {
		read++
		err := encoder.Encode(ctx, &z, f)
		if i := slices.Index(frames, f.Seq); err == nil && i >= 0 {
			at[i] = slices.Clone(z.Mean)
		}
		return err
	}); err != nil {
		return nil, err
	}
	for i, z := range at {
		if z == nil {
			return nil, console.Usage(fmt.Errorf("%s has %d readable frames, but not frame %d: give another frame, counted from 0", c.Video, read, frames[i]))
		}
	}
	return at, nil
}

// film samples the path.
func (c *sampleCmd) film(law *drift.Law, at [][]float64) (*sampled, error) {
	f := &sampled{dt: c.DT}
	if f.dt == 0 {
		f.dt = law.Step
	}
	rng, err := rand.New(rand.NewPCG(c.Seed, sampleStream)), error(nil)
	if len(at) == 2 {
		f.z, err = law.Bridge(at[0], at[1], f.dt, c.Frames, rng)
		return f, err
	}
	if f.z, err = law.Path(at[0], f.dt, c.Frames, rng); err == nil {
		f.mu = evaluation.DriftAt(law.Drift, f.z)
	}
	return f, err
}

// sampleStream is the second word of the path's PCG seed.
const sampleStream = 1

// sampled is a path and its decoded pictures: a sim.Film.
type sampled struct {
	z, mu *mat.Dense // mu is nil if the path has a fixed end
	dt    float64

	decoder *infer.Encoder
	input   card.Input
	pixels  []float32 // one picture, channel by channel, red first
	sheet   sheet
	at      int
}

// unseen is the distance in training standard deviations beyond which the decoder has not learnt to draw a latent.
const unseen = 5

// judge warns about latents far from the training data.
func (s *sampled) judge(k *card.Card) {
	n, far := s.z.RawMatrix().Rows, 0
	for i := range n {
		for c, z := range s.z.RawRowView(i) {
			if math.Abs(z-k.Mean[c]) > unseen*k.SD[c] {
				far++
				break
			}
		}
	}
	if far > 0 {
		console.Warn("%d of %d latents lie more than %d standard deviations from the training mean: their pictures and drift are unreliable", far, n, unseen)
	}
}

// Next renders the next frame.
func (s *sampled) Next(dst *sim.Picture) (sim.Truth, error) {
	n, _ := s.z.Dims()
	if s.at == n {
		return sim.Truth{}, io.EOF
	}
	in, k := s.input, s.at
	area := in.Width * in.Height
	dst.Format = sim.Format{Width: in.Width, Height: in.Height, Channels: in.Channels, Depth: sim.Unit}
	if s.pixels == nil {
		s.pixels, dst.F32 = make([]float32, area*in.Channels), make([]float32, area*in.Channels)
	}
	truth := sim.Truth{T: float64(k) * s.dt, Z: s.z.RawRowView(k), Inside: true}
	if s.mu != nil {
		truth.Mu = s.mu.RawRowView(k)
	}
	if err := s.decoder.Decode(s.pixels, truth.Z); err != nil {
		return truth, fmt.Errorf("frame %d: %w", k, err)
	}
	for i, v := range s.pixels {
		if v != v {
			return truth, fmt.Errorf("frame %d: the decoder returned values that are not finite for latents %.4g: sample a shorter path, or check the model", k, truth.Z)
		}
		dst.F32[i%area*in.Channels+in.Channels-1-i/area] = v
	}
	s.sheet.add(k, n, s.pixels, in)
	s.at++
	return truth, nil
}
