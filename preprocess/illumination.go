package preprocess

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/preprocess/illumination"
)

// illuminationOptions are the keys under illumination, written by pretrain.
type illuminationOptions struct {
	Gain       bool       `yaml:"gain"`
	Plane      bool       `yaml:"plane"`
	Interlaced bool       `yaml:"interlaced"`
	Scale      float64    `yaml:"scale"`                       // scale of the residuals of a matching frame, in the frame's own counts
	Window     [2]float64 `yaml:"window"`                      // the frame's counts that correspond to 0 and 65535 in the reference
	Reference  []string   `yaml:"reference" reaches:"nothing"` // the thumbnail, one row of boxes each: illumination.Side little-endian uint16, in base64
}

// foreign is the ratio of a frame's residual to the usual one from which the frame counts as a different scene.
const foreign = 8

// evenLight removes the effect of a changing lamp. The result is the frame as under the lamp of the reference, in the frame's own counts, as float32.
type evenLight struct {
	model   *illumination.Model
	fitter  *illumination.Fitter
	small   *illumination.Thumbnail
	shape   [3]int // rows, columns and channels of small
	boxes   []float32
	strange bool // the last frame did not match the reference
}

func newIllumination(decode func(dst any) error) (pipeline.Step, error) {
	var o illuminationOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	m, err := o.model()
	if err != nil {
		return nil, err
	}
	return &evenLight{model: m, fitter: illumination.NewFitter(m), boxes: make([]float32, illumination.Size)}, nil
}

// model checks the options and returns their model.
func (o *illuminationOptions) model() (*illumination.Model, error) {
	var data []byte
	for i, row := range o.Reference {
		values, err := base64.StdEncoding.DecodeString(row)
		if err != nil || len(values) != 2*illumination.Side {
			return nil, fmt.Errorf("reference[%d]: found %d bytes, expected %d in base64: only pretrain writes this step", i, len(values), 2*illumination.Side)
		}
		data = append(data, values...)
	}
	switch {
	case len(o.Reference) != illumination.Side:
		return nil, fmt.Errorf("reference: found %d rows, expected %d: only pretrain writes this step", len(o.Reference), illumination.Side)
	case !(o.Window[0] < o.Window[1]) || math.IsInf(o.Window[1]-o.Window[0], 0):
		return nil, fmt.Errorf("window: found %v, expected [low, high] with low < high, in the frame's own counts", o.Window)
	case !(o.Scale >= 0) || math.IsInf(o.Scale, 0):
		return nil, fmt.Errorf("scale: found %g, expected 0 or more, in the frame's own counts", o.Scale)
	}
	m := &illumination.Model{Form: illumination.Form{Gain: o.Gain, Plane: o.Plane, Interlaced: o.Interlaced}, Scale: o.Scale}
	for i := range illumination.Size {
		m.Reference = append(m.Reference, float32(o.Window[0]+(o.Window[1]-o.Window[0])*float64(binary.LittleEndian.Uint16(data[2*i:]))/math.MaxUint16))
	}
	return m, nil
}

// IlluminationOptions returns the step's options for a model.
func IlluminationOptions(m *illumination.Model) map[string]any {
	low, high := float64(slices.Min(m.Reference)), float64(slices.Max(m.Reference))
	if high == low {
		high = low + 1
	}
	var rows []any
	for row := range slices.Chunk(m.Reference, illumination.Side) {
		var data []byte
		for _, v := range row {
			data = binary.LittleEndian.AppendUint16(data, uint16(math.Round((float64(v)-low)/(high-low)*math.MaxUint16)))
		}
		rows = append(rows, base64.StdEncoding.EncodeToString(data))
	}
	o := map[string]any{"scale": m.Scale, "window": []any{low, high}, "reference": rows}
	for key, on := range map[string]bool{"gain": m.Form.Gain, "plane": m.Form.Plane, "interlaced": m.Form.Interlaced} {
		if on {
			o[key] = true
		}
	}
	return o
}

// Apply accepts uint8, uint16 and float32 pictures of 1 or 3 channels. It must come before any step that changes grey values or crops.
func (e *evenLight) Apply(_ context.Context, f *frame.Frame) error {
	if err := check("illumination", f, gocv.MatTypeCV8U, gocv.MatTypeCV16U, gocv.MatTypeCV32F); err != nil {
		return err
	}
	if err := checkFinite("illumination", f); err != nil {
		return err
	}
	m := f.Mat()
	m.ConvertTo(m, gocv.MatTypeCV32F)
	pixels, err := m.DataPtrFloat32()
	if err != nil {
		return complain("illumination", f, "%w", err)
	}
	if shape := [3]int{m.Rows(), m.Cols(), m.Channels()}; shape != e.shape {
		if e.small, err = illumination.NewThumbnail(shape[0], shape[1], shape[2]); err != nil {
			return complain("illumination", f, "%w", err)
		}
		e.shape = shape
	}
	e.small.Of(e.boxes, pixels)
	light, left := e.fitter.Fit(e.boxes)
	for _, l := range light {
		if !(l.Gain > 1./illumination.MaxGain && l.Gain < illumination.MaxGain) {
			return &pipeline.ErrSkip{Cause: "no_light", Err: complain("illumination", f, "the lamp has %.3g of its usual brightness: check that it is on, and that the scene is the same as in training", l.Gain)}
		}
	}
	e.doubt(f, left)
	e.take(pixels, light)
	return nil
}

// doubt warns at the first frame that does not match the reference.
func (e *evenLight) doubt(f *frame.Frame, left float64) {
	strange := left > foreign*e.model.Scale
	if strange && !e.strange {
		f.Notice(true, "background_changed", fmt.Sprintf("the still part of the picture differs from the training's by %.3g counts per box, %.3g are usual;"+
			"the correction of the light may be wrong: train on this scene, or with --keep-light", left, e.model.Scale))
	}
	e.strange = strange
}

// take removes the light from interleaved pixels, in place.
func (e *evenLight) take(pixels []float32, light [2]illumination.Light) {
	rows, width, channels := e.shape[0], e.shape[1]*e.shape[2], e.shape[2]
	for r := range rows {
		l := &light[r%2]
		y := (float64(r)+0.5)/float64(rows) - 0.5
		scale := float32(1 / l.Gain)
		at, step := float32(l.Added(-0.5, y)), float32(l.AlongX/float64(e.shape[1]))
		row := pixels[r*width : (r+1)*width]
		if channels == 1 && step == 0 {
			for i, v := range row {
				row[i] = (v - at) * scale
			}
			continue
		}
		for i, v := range row {
			row[i] = (v - at - step*(float32(i/channels)+0.5)) * scale
		}
	}
}

// Can reports that the result for a frame does not depend on other frames.
func (e *evenLight) Can() pipeline.Abilities { return pipeline.Abilities{Independent: true} }

func (e *evenLight) Close() error { return nil }
