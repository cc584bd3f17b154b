package training

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
)

// choice is the preparation of recordings for training.
type choice struct {
	steps  []card.Step
	clip   *video.Clip
	tau    float64
	latent int // number of latents; 0 if it must still be found

	objects *card.Objects // how the clip's pictures were cut out around objects; nil for whole frames
}

// origin is the starting point of a training.
type origin struct {
	from *card.File  // the model to continue; nil if there is none
	left *unfinished // checkpoint of an earlier run
}

// prepare reads the recordings. It uses the preparation of a resumed run or of the model to continue. Otherwise it chooses the best one for them.
func (c *Options) prepare(ctx context.Context, data recording.Dataset, o origin) (*choice, error) {
	from, left := o.from, o.left
	if c.Objects {
		return c.prepareObjects(ctx, data, o)
	}
	if left.from != nil {
		console.Say("continuing from step %d of %d, stored in %s", left.from.Step, left.from.Steps, left.path)
		clip, err := data.Clip(ctx, left.notes.Steps)
		return &choice{steps: left.notes.Steps, clip: clip, tau: left.notes.Tau, latent: left.notes.Latent}, err
	}
	latent, err := c.dimension()
	if err != nil {
		return nil, err
	}
	if c.byFilm() {
		s, err := data.Widest(ctx)
		if err != nil {
			return nil, err
		}
		return c.choose(ctx, data, s, latent)
	}
	s, err := data.Survey(ctx)
	if err != nil {
		return nil, err
	}
	if err = s.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", data, err)
	}
	if from == nil {
		if s, err = c.sound(ctx, data, s); err == nil {
			s, err = c.steady(ctx, data, s)
		}
		if err != nil {
			return nil, err
		}
		return c.choose(ctx, data, s, latent)
	}
	console.Say("continuing from %s: %s", c.From, describe(from.Card.Preprocess))
	clip, err := data.Clip(ctx, from.Card.Preprocess)
	if err != nil {
		return nil, err
	}
	return &choice{steps: from.Card.Preprocess, clip: clip, tau: c.tau(clip), latent: latent}, nil
}

// sound replaces the camera's defective pixels, and surveys the result.
func (c *Options) sound(ctx context.Context, data recording.Dataset, s *recording.Survey) (*recording.Survey, error) {
	n, step := s.Defects()
	if n == 0 {
		return s, nil
	}
	console.Say("hot or dead pixels of the camera: %d; each is replaced by the median of its neighbours", n)
	return data.Survey(ctx, step)
}

// steady removes changes of the lamp and surveys the result, if the light of a film changes and should not be kept.
func (c *Options) steady(ctx context.Context, data recording.Dataset, s *recording.Survey) (*recording.Survey, error) {
	if c.KeepLight {
		return s, nil
	}
	light, step := s.Illumination()
	if light.Model == nil {
		return s, nil
	}
	console.Say("illumination: %s: %.1f nats per frame; it is removed unless you give --keep-light", light.Model.Form, light.Nats)
	return data.Survey(ctx, append(s.Behind(), step)...)
}

// choose chooses grey window and crop from one pass over the recordings. It chooses CLAHE by the ratio of persistent signal to pixel noise
// with and without it, tau by the clip's energy, and the latent dimension if none is given. Flags override each.
func (c *Options) choose(ctx context.Context, data recording.Dataset, s *recording.Survey, latent int) (*choice, error) {
	low, high, err := s.Window()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", data, err)
	}
	crop, err := c.crop(s)
	if err != nil {
		return nil, err
	}
	var best *choice
	var most float64
	for _, clahe := range c.candidates(s) {
		candidate := &choice{steps: s.Steps(low, high, clahe, crop), latent: latent}
		if candidate.clip, err = data.Clip(ctx, candidate.steps); err != nil {
			return nil, err
		}
		nats := candidate.clip.LastingNats()
		if best == nil || nats > most {
			best, most = candidate, nats
		}
	}
	best.tau = c.tau(best.clip)
	if crop != nil && crop.Film {
		console.Say("each film's own grey window and region, %s", describe(best.steps))
	} else {
		console.Say("grey window %g to %g, %s", low, high, describe(best.steps))
	}
	if best.latent == 0 {
		best.latent, err = grow(ctx, best.clip, c.config(best))
	}
	return best, err
}

// candidates lists the CLAHE settings to try. Off comes first, so it wins ties. Colour pictures are never equalised.
func (c *Options) candidates(s *recording.Survey) []bool {
	switch {
	case c.CLAHE == "on" && !s.Coloured():
		return []bool{true}
	case c.CLAHE == "off" || s.Coloured():
		return []bool{false}
	}
	return []bool{false, true}
}

// tau returns the requested observation noise, or the published code's effective value, or the best one for the clip.
func (c *Options) tau(clip *video.Clip) float64 {
	switch {
	case c.Tau > 0:
		return c.Tau
	case c.Recipe == "paper":
		return sdevae.PaperTau
	}
	return sdevae.TauOf(clip)
}

// byFilm reports whether --crop requests a separate region for each film.
func (c *Options) byFilm() bool { return c.Crop == "film" || strings.HasPrefix(c.Crop, "film,") }

// filmRegion returns a square that contains the motion in s, the film with the widest motion, or a square of the requested side.
func (c *Options) filmRegion(s *recording.Survey) (*recording.Region, error) {
	size, given := strings.CutPrefix(c.Crop, "film,")
	r, ok := s.Moving()
	switch {
	case given:
		n, err := strconv.Atoi(strings.TrimSpace(size))
		if err != nil || n < 1 || n > min(s.Width, s.Height) {
			return nil, console.Usage(fmt.Errorf("--crop %q: expected film,SIZE with 1 to %d pixels, such as film,96", c.Crop, min(s.Width, s.Height)))
		}
		r.Size = n
	case !ok:
		return nil, console.Usage(errors.New("--crop film: the motion fills a film's frame, or cannot be separated from noise: give film,SIZE in pixels, such as film,96"))
	}
	return &recording.Region{Size: r.Size, Film: true}, nil
}

// crop reads --crop.
func (c *Options) crop(s *recording.Survey) (*recording.Region, error) {
	switch {
	case c.byFilm():
		return c.filmRegion(s)
	case c.Crop == "none":
		return nil, nil
	case c.Crop == "auto":
		if r, ok := s.Moving(); ok {
			return &r, nil
		}
		return nil, nil
	}
	parts := strings.Split(c.Crop, ",")
	var v [3]int
	for i, p := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(p))
		if err != nil || len(parts) != 3 || n < 0 {
			return nil, console.Usage(fmt.Errorf("--crop %q: expected auto, film, none or X,Y,SIZE in pixels, such as 28,28,64", c.Crop))
		}
		v[i] = n
	}
	r := &recording.Region{X: v[0], Y: v[1], Size: v[2]}
	if r.Size < 1 || r.X+r.Size > s.Width || r.Y+r.Size > s.Height {
		return nil, console.Usage(fmt.Errorf("--crop %q: %d pixels from (%d, %d) do not lie inside the %dx%d frame", c.Crop, r.Size, r.X, r.Y, s.Width, s.Height))
	}
	return r, nil
}

// describe lists preprocessing steps for display.
func describe(steps []card.Step) string {
	var parts []string
	for _, s := range steps {
		part := s.Kind
		if search, ok := s.Options["search"].(map[string]any); ok {
			part = fmt.Sprintf("roi %vx%v around the object", search["size"], search["size"])
		} else if s.Kind == "roi" {
			part = fmt.Sprintf("roi %vx%v at (%v, %v)", s.Options["width"], s.Options["height"], s.Options["x"], s.Options["y"])
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " → ")
}
