package training

import (
	"context"
	"errors"
	"fmt"

	"driftscope/infer/card"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
)

// leastLasting is the least persistent signal of an object beyond the mean picture, nats per picture. With less, no latent is worth its cost. At
// SNR 6, simulated identical objects have 0.2, and objects that bleach or leave the focus have 40 or more.
const leastLasting = 1

// firstLook is the number of frames that are searched for the light of an object.
const firstLook = 40

// prepareObjects makes a clip of the pictures around the objects of recordings, one trajectory per object, and records how they were cut out.
func (c *Options) prepareObjects(ctx context.Context, data recording.Dataset, o origin) (*choice, error) {
	var light frame.Template
	left := firstLook
	err := follow(ctx, data[0], light, nil, func(f *frame.Frame, _ *latent.Objects) bool {
		light = f.Meta.Template
		left--
		return light.SD == 0 && left > 0
	})
	if err == nil && light.SD == 0 {
		err = fmt.Errorf("%s: no object is visible in its first %d frames: leave --objects out, or check the film with driftscope probe", data, firstLook)
	}
	if err != nil {
		return nil, err
	}
	p := &pictures{light: light, scale: max(1, lightReach*light.SD/(widest/2))}
	if err := p.collect(ctx, data); err != nil {
		return nil, err
	}
	side := p.side()
	p.keep(float64(side) / 2 * p.scale)
	if len(p.of) < fewPictures {
		return nil, fmt.Errorf("%s: found %d pictures of objects that are isolated within %.0f px for %d frames or more, expected at least %d: give a longer film, or one with fewer objects",
			data, len(p.of), float64(side)/2*p.scale, leastTrack, fewPictures)
	}
	p.trim(side)
	low, high := p.levels()
	if !(high > low) {
		return nil, fmt.Errorf("%s: all objects are uniform squares: is the film saturated?", data)
	}
	clip := p.clip(side, low, high)
	console.Say("%d pictures of %d objects, %dx%d px of %.3g px of the film each, grey levels %.4g to %.4g above the surroundings", clip.Len(), clip.Trajectory[clip.Len()-1]+1, side, side, p.scale, low, high)
	if nats := clip.LastingNats(); nats < leastLasting {
		return nil, fmt.Errorf("%s: all objects look alike except for noise, %.2g nats per picture, so a model can learn nothing: driftscope run %s --objects follows them without a model", data, nats, recording.ShellWord(c.Source[0]))
	}
	found := &choice{clip: clip, tau: c.tau(clip), objects: &card.Objects{Template: light.SD, Dark: light.Dark, Scale: p.scale, Low: low, High: high}}
	if o.left.from != nil {
		console.Say("continuing from step %d of %d, stored in %s", o.left.from.Step, o.left.from.Steps, o.left.path)
		found.latent = o.left.notes.Latent
		return found, nil
	}
	if found.latent, err = c.dimension(); err == nil && found.latent == 0 {
		found.latent, err = grow(ctx, clip, c.config(found))
	}
	return found, err
}

// checkObjects refuses flags for the preparation of a scene.
func (c *Options) checkObjects() error {
	switch {
	case !c.Objects:
		return nil
	case c.From != "":
		return errors.New("--objects: a model of objects cannot be continued: leave --from out")
	case c.Crop != "auto" || c.CLAHE != "auto":
		return errors.New("--objects: squares are cut out around each object, and not equalised: leave --crop and --clahe out")
	case c.Clock:
		return errors.New("--objects: objects begin at any time, so a clock has no meaning: leave --clock out")
	}
	return nil
}
