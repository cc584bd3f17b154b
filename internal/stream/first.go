//go:build cgo

package stream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"driftscope/infer/field"
	"driftscope/infer/finder"
	"driftscope/ingest"
	"driftscope/internal/config"
	"driftscope/internal/console"
	"driftscope/internal/exit"
	"driftscope/internal/frame"
	"driftscope/internal/latent"
	"driftscope/internal/pages"
	"driftscope/internal/pipeline"
	"driftscope/internal/recording"
	"driftscope/online/objects"
)

// Recorded says whether a source is a recording of a specimen: it waits for each frame to be asked for, and is no simulation, which has a model.
func Recorded(c config.Component) (bool, error) {
	if c.Kind == recording.SimSource {
		return false, nil
	}
	source, err := ingest.New(c.Kind, c.Decode) // holds nothing before Open
	if err != nil {
		return false, exit.Usage(err)
	}
	return !source.Info().Live, nil
}

// first is what a stream knows of a film that nobody described.
type first struct {
	finder *finder.Finder
	tally  field.Tally
}

// Frames of a recording that are looked at before it is tracked: as many as lookPixels gives, within two bounds.
const (
	leastLook  = 60
	mostLook   = 600
	lookPixels = 100_000_000
)

// errSeen ends the look.
var errSeen = errors.New("enough frames were seen")

// lookFirst reads the beginning of a recording and decides what it shows.
func lookFirst(ctx context.Context, cfg config.Config) (*first, error) {
	source, err := ingest.New(cfg.Source.Kind, cfg.Source.Decode)
	if err != nil {
		return nil, exit.Usage(err)
	}
	defer source.Close()
	if source.Info().Live {
		return nil, exit.Usage(fmt.Errorf("objects.find: %s does not wait, and only a recording is looked at before it is tracked: give --objects, or a model", cfg.Source.Kind))
	}
	steps, err := newSteps(cfg.Preprocess, 1)
	if err != nil {
		return nil, exit.Usage(err)
	}
	steps = append(steps, pipeline.NamedStep{Name: "picture", Steps: []pipeline.Step{field.NewPicture()}})
	defer closeSteps(steps)
	if err := source.Open(ctx); err != nil {
		return nil, pages.About(ingest.Page(cfg.Source.Kind), err)
	}
	var sampler finder.Sampler
	for {
		err := lookAt(ctx, source, steps, &sampler)
		var skip *pipeline.ErrSkip
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, errSeen):
			return learnFirst(&sampler, cfg)
		case errors.As(err, &skip):
		case err != nil:
			return nil, fmt.Errorf("%s: %w", recording.SourceName(cfg.Source), err)
		}
	}
}

// lookAt gives the next frame to a sampler.
func lookAt(ctx context.Context, source pipeline.Source, steps []pipeline.NamedStep, sampler *finder.Sampler) error {
	f, err := source.Read(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, s := range steps {
		if err := s.Steps[0].Apply(ctx, f); err != nil {
			return err
		}
	}
	m := f.Mat()
	pixels, err := m.DataPtrFloat32()
	if err != nil {
		return err
	}
	w, h := m.Cols(), m.Rows()
	if err := sampler.Add(finder.Picture{W: w, H: h, P: pixels}); err != nil {
		return fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	if sampler.Frames() >= min(max(lookPixels/(w*h), leastLook), mostLook) {
		return errSeen
	}
	return nil
}

// learnFirst decides by a sample.
func learnFirst(sampler *finder.Sampler, cfg config.Config) (*first, error) {
	sample := sampler.Sample()
	if cfg.Objects.Find != config.FindAuto {
		sample.Force = finder.Force(cfg.Objects.Find)
	}
	if len(sample.Frames) == 0 {
		return nil, fmt.Errorf("%s: found no frame that can be read: check the recording (driftscope probe)", recording.SourceName(cfg.Source))
	}
	learnt, err := finder.Learn(sample)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", recording.SourceName(cfg.Source), err)
	}
	return &first{finder: learnt}, nil
}

// firstBuilder makes what follows the objects of a recording that nobody described.
type firstBuilder struct {
	*fieldBuilder
	seen *first // nil before the plan is made
}

// plan looks at the recording.
func (b *firstBuilder) plan(ctx context.Context, m *Model) (plan, error) {
	if m != nil {
		return plan{}, exit.Usage(fmt.Errorf("model %s: what was found at first sight is followed without a model: start again with --objects --model", m.name))
	}
	seen, err := lookFirst(ctx, b.cfg)
	if err != nil {
		return plan{}, err
	}
	b.seen = seen
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %+v %s", fieldName, b.cfg.Preprocess, seen.finder))
	return plan{about: tracked{name: fieldName, digest: hex.EncodeToString(digest[:]), latents: objects.Dim + field.Latents(seen.finder)}}, nil
}

// lanes is one for a single object: each frame begins where the object was in the one before.
func (b *firstBuilder) lanes(plan) int {
	if k := b.seen.finder.Kind; k == finder.One || k == finder.OneBody {
		return 1
	}
	return allLanes()
}

func (b *firstBuilder) steps(_ plan, lanes int) ([]pipeline.NamedStep, error) {
	made, err := newSteps(b.cfg.Preprocess, lanes)
	if err != nil {
		return nil, err
	}
	picture := pipeline.NamedStep{Name: "picture"}
	for range lanes {
		picture.Steps = append(picture.Steps, field.NewPicture())
	}
	return append(made, picture, pipeline.NamedStep{Name: "first contact", Steps: []pipeline.Step{field.NewTold(b.seen.finder)}}), nil
}

func (b *firstBuilder) encoder(plan) (pipeline.Encoder, error) {
	return firstEncoder{field.NewFinds(b.seen.finder, b.cfg.Objects.Max, &b.seen.tally)}, nil
}

// firstEncoder sees what was found.
type firstEncoder struct{ finds *field.Finds }

// Dim is the number of latents of each object.
func (e firstEncoder) Dim() int { return e.finds.Dim() }

// Close has nothing to free.
func (firstEncoder) Close() error { return nil }

// Sees makes the sight of a field.
func (firstEncoder) Sees() latent.Observation { return latent.Observation{Sight: &latent.Sight{}} }

// Encode fills the sight.
func (e firstEncoder) Encode(_ context.Context, dst latent.Observation, f *frame.Frame) error {
	return e.finds.Encode(dst.Sight, f)
}

// first is what was found at first sight; nil where somebody described the film.
func (s *Stream) first() *first {
	if b, ok := s.tracking.builder.(*firstBuilder); ok {
		return b.seen
	}
	return nil
}

// conclude says at the end of a run what became of what the film was taken to show. Nothing found is an error.
func (s *Stream) conclude() error {
	seen := s.first()
	if seen == nil {
		return nil
	}
	f, t := seen.finder, &seen.tally
	frames, found := t.Frames.Load(), t.Found.Load()
	switch {
	case f.Kind == finder.Nothing:
		return errors.New(f.String())
	case found == 0:
		return fmt.Errorf("nothing: no object in any of %d frames, though the look at the film found %v: it may have changed, or show something else after its beginning", frames, f.Kind)
	case 2*found < frames:
		console.Warn("verdict: doubtful: objects were found in %d of %d frames, in none after frame %d: where the film shows more, name it with --one, --bodies or --objects", found, frames, t.Last.Load())
	default:
		console.Say("verdict: %s", f)
	}
	return nil
}
