//go:build cgo

package stream

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"driftscope/infer/field"
	"driftscope/infer/finder"
	"driftscope/ingest"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
	"driftscope/online"
	"driftscope/online/objects"
)

// fieldName replaces the model's name if objects are followed without a model.
const fieldName = "objects"

// fieldBuilder builds the tracking of every object of a field, with a model of objects or without one. A change of model keeps the objects, their numbers
// and laws.
type fieldBuilder struct {
	cfg      config.Config
	locators *field.Locators
	follow   online.Config // for the law of the followed object

	law fieldLaw // zero until begin
}

func newFieldBuilder(cfg config.Config, follow online.Config) (*fieldBuilder, error) {
	locators, err := field.NewLocators(cfg.Objects.Max)
	return &fieldBuilder{cfg: cfg, locators: locators, follow: follow}, err
}

func (b *fieldBuilder) plan(_ context.Context, m *Model) (plan, error) {
	if m != nil {
		about := ofModel(m)
		about.latents += objects.Dim
		return plan{about: about, model: m}, nil
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %+v", fieldName, b.cfg.Preprocess))
	return plan{about: tracked{name: fieldName, digest: hex.EncodeToString(digest[:]), latents: objects.Dim}}, nil
}

func (b *fieldBuilder) lanes(plan) int { return allLanes() }

// steps returns the configured steps, followed by the steps that the locators need. The configuration's template overrides the model's.
func (b *fieldBuilder) steps(p plan, lanes int) ([]pipeline.NamedStep, error) {
	template := frame.Template{SD: b.cfg.Objects.Template, Dark: b.cfg.Objects.Polarity == "dark"}
	if p.model != nil && template.SD == 0 {
		template = frame.Template{SD: p.model.Net.Card.Objects.Template, Dark: p.model.Net.Card.Objects.Dark}
	}
	made, err := b.pictures(lanes)
	if err != nil {
		return nil, err
	}
	return append(made, pipeline.NamedStep{Name: "template", Steps: []pipeline.Step{field.NewTemplate(template)}}), nil
}

// pictures returns the configured steps, and the one that makes pixels of grey values for each lane.
func (b *fieldBuilder) pictures(lanes int) ([]pipeline.NamedStep, error) {
	made, err := newSteps(b.cfg.Preprocess, lanes)
	if err != nil {
		return nil, err
	}
	picture := pipeline.NamedStep{Name: "picture"}
	for range lanes {
		picture.Steps = append(picture.Steps, field.NewPicture())
	}
	return append(made, picture), nil
}

func (b *fieldBuilder) encoder(p plan) (pipeline.Encoder, error) {
	if p.model == nil {
		return fieldEncoder{field.NewEncoder(b.locators, nil)}, nil
	}
	look, err := field.NewAppearance(p.model.Net)
	if err != nil {
		return nil, err
	}
	return fieldEncoder{field.NewEncoder(b.locators, look)}, nil
}

func (b *fieldBuilder) viewer(plan) (pipeline.Viewer, error) { return field.NewViewer(), nil }

// begin makes the estimator for the first plan, which all later plans share.
func (b *fieldBuilder) begin(p plan) (pipeline.Estimator, error) {
	if b.law.estimator != nil {
		return b.law, nil
	}
	o := b.cfg.Objects
	made, err := objects.New(objects.Config{Every: o.Every, Lag: o.Lag, MaxGap: b.follow.MaxGap, Exposure: b.cfg.Online.Exposure, PixelUM: b.cfg.Online.PixelUM,
		Depth: b.cfg.Optics.FocalDepth, Pairs: o.Pairs, Latents: p.about.latents - objects.Dim, Follow: b.follow})
	if err != nil {
		return nil, err
	}
	b.law = fieldLaw{made, made}
	return b.law, nil
}

func (b *fieldBuilder) reserve(numbers uint64) { b.law.estimator.Reserve(numbers) }

// fieldEncoder encodes the objects of a field.
type fieldEncoder struct{ encoding[*latent.Sight] }

// encoding is an encoder of one kind of observation.
type encoding[T any] interface {
	Dim() int
	Encode(ctx context.Context, dst T, f *frame.Frame) error
	Close() error
}

// Sees returns an empty sight of a field.
func (fieldEncoder) Sees() latent.Observation { return latent.Observation{Sight: &latent.Sight{}} }

// Encode fills the sight.
func (e fieldEncoder) Encode(ctx context.Context, dst latent.Observation, f *frame.Frame) error {
	return e.encoding.Encode(ctx, dst.Sight, f)
}

// fieldLaw is the law of all objects of a field, and of the followed object.
type fieldLaw struct {
	following
	estimator *objects.Estimator // the same estimator
}

// following is a law of many objects.
type following interface {
	pipeline.Law
	Reports() []latent.Message
	Last() []latent.Message
	Follow(id uint64) error
}

// Update updates the law with the sight.
func (l fieldLaw) Update(dst *latent.Estimate, seen latent.Observation) (told bool, err error) {
	return l.estimator.Update(dst, seen.Sight)
}

// Finish does nothing: the estimator already has every object.
func (fieldLaw) Finish(*latent.SDE, uint64) bool { return false }

// Looks reports whether run looks at a source before it tracks it. A simulation has a model, and frames that anyone may send are no film.
func Looks(c config.Component) (bool, error) {
	if c.Kind == recording.SimSource {
		return false, nil
	}
	source, err := ingest.New(c.Kind, c.Decode) // holds nothing before Open
	if err != nil {
		return false, console.Usage(err)
	}
	return !source.Info().Public, nil // where a server keeps the frames, reading them twice moves the reader
}

// placesBuilder builds the tracking of places that come without pictures.
type placesBuilder struct{ fieldBuilder }

func (b *placesBuilder) plan(ctx context.Context, m *Model) (plan, error) {
	if m != nil {
		return plan{}, console.Usage(fmt.Errorf("model %s: sees pictures, and the source sends places", m.name))
	}
	return b.fieldBuilder.plan(ctx, nil)
}

func (*placesBuilder) lanes(plan) int                                { return 1 }
func (*placesBuilder) steps(plan, int) ([]pipeline.NamedStep, error) { return nil, nil }
func (*placesBuilder) viewer(plan) (pipeline.Viewer, error)          { return nil, nil }

func (b *placesBuilder) encoder(plan) (pipeline.Encoder, error) {
	return fieldEncoder{field.NewPlaces(b.cfg.Objects.Max, b.cfg.Online.PixelUM, b.cfg.Objects.Template)}, nil
}

// checkPlaces refuses settings that need pictures if the source sends places, and places that no object is made of.
func checkPlaces(cfg config.Config, source pipeline.Info) error {
	switch o := cfg.Objects; {
	case !source.Places:
		return nil
	case !o.Enabled:
		return errors.New("source: sends places: give objects: {enabled: true}")
	case cfg.Model != "" || o.Find != "" || len(cfg.Preprocess) > 0 || cfg.Record.Path != "":
		return errors.New("source: sends places without pictures: leave model, objects.find, preprocess and record out")
	}
	return nil
}

// first holds the find for a film without a description.
type first struct {
	finder *finder.Finder
	tally  field.Tally
}

// lookFirst reads the beginning of a source and learns its objects. A live source is opened again afterwards.
func lookFirst(ctx context.Context, cfg config.Config) (*first, error) {
	r := recording.Of(cfg.Source)
	if looks, err := Looks(cfg.Source); err != nil || !looks && cfg.Source.Kind != recording.SimSource {
		return nil, cmp.Or(err, console.Usage(fmt.Errorf("objects.find: anyone may send the frames of %s, so run does not look at them first: give --objects, or a model", cfg.Source.Kind)))
	}
	made, err := newSteps(cfg.Preprocess, 1)
	if err != nil {
		return nil, console.Usage(err)
	}
	defer closeSteps(made)
	var steps []pipeline.Step
	for _, s := range made {
		steps = append(steps, s.Steps[0])
	}
	force := finder.Force(cfg.Objects.Find)
	if cfg.Objects.Find == config.FindAuto {
		force = finder.Free
	}
	learnt, err := r.Look(ctx, steps, force)
	if errors.Is(err, frame.ErrTooLarge) {
		err = fmt.Errorf("%w, or give --objects or a model", err)
	}
	return &first{finder: learnt}, err
}

// firstBuilder builds the tracking of a recording's objects without a description of them.
type firstBuilder struct {
	fieldBuilder
	seen *first // nil until the plan is made
}

// plan reads the beginning of the recording.
func (b *firstBuilder) plan(ctx context.Context, m *Model) (plan, error) {
	if m != nil {
		return plan{}, console.Usage(fmt.Errorf("model %s: the objects of the first look are followed without a model: start again with --objects --model", m.name))
	}
	seen, err := lookFirst(ctx, b.cfg)
	if err != nil {
		return plan{}, err
	}
	b.seen = seen
	digest := sha256.Sum256(fmt.Appendf(nil, "%s %+v %s", fieldName, b.cfg.Preprocess, seen.finder))
	return plan{about: tracked{name: fieldName, digest: hex.EncodeToString(digest[:]), latents: objects.Dim + field.Latents(seen.finder)}}, nil
}

// lanes returns 1 for a single object: the search in each frame begins at the object's place in the last frame.
func (b *firstBuilder) lanes(plan) int {
	if k := b.seen.finder.Kind; k == finder.One || k == finder.OneBody {
		return 1
	}
	return allLanes()
}

func (b *firstBuilder) steps(_ plan, lanes int) ([]pipeline.NamedStep, error) {
	made, err := b.pictures(lanes)
	return append(made, pipeline.NamedStep{Name: "first contact", Steps: []pipeline.Step{field.NewTold(b.seen.finder)}}), err
}

func (b *firstBuilder) encoder(plan) (pipeline.Encoder, error) {
	return fieldEncoder{field.NewFinds(b.seen.finder, b.cfg.Objects.Max, &b.seen.tally)}, nil
}

// first returns the find of the first look, or nil if the user described the film.
func (s *Stream) first() *first {
	if b, ok := s.tracking.builder.(*firstBuilder); ok {
		return b.seen
	}
	return nil
}

// conclude reports at the end of a run whether the find was confirmed. It returns an error if a recording shows no object; of a live source an alarm
// has said so.
func (s *Stream) conclude() error {
	seen := s.first()
	if seen == nil {
		return nil
	}
	f, t := seen.finder, &seen.tally
	frames, found := t.Frames.Load(), t.Found.Load()
	switch {
	case s.source.Live && found == 0:
		console.Warn("verdict: nothing: no object in any of %d frames: start again when the camera shows some, or name them with --one, --bodies or --objects", frames)
	case f.Kind == finder.Nothing:
		return errors.New(f.String())
	case found == 0:
		return fmt.Errorf("nothing: no object in any of %d frames, although the first look at the film found %v: the film may have changed, or show other things after its beginning", frames, f.Kind)
	case !f.Confirmed(found, frames):
		console.Warn("verdict: doubtful: objects were found in %d of %d frames, in none after frame %d: if the film shows more, say what with --one, --bodies or --objects", found, frames, t.Last.Load())
	default:
		console.Say("verdict: %s", f)
	}
	return nil
}
