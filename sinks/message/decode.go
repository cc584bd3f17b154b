package message

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"driftscope/internal/flow/latent"
)

// Limits on the contents of a record. Larger records are refused.
const (
	MaxLatent   = 64      // latent dimensions
	MaxHorizons = 8       // horizons of forecasts
	MaxField    = 4096    // points of a drift field, cells of a map, distances
	MaxRecord   = 8 << 20 // bytes of JSON
	maxText     = 4096    // bytes of a text
	maxStages   = 256     // stages, causes of loss, codes of alarms
	MaxObjects  = 1 << 16 // objects of a field, and positions in one column
	MaxCameras  = 64      // cameras with a common law
)

// Decode reads one record of the given kind and checks its version, shape and size. It ignores unknown fields, because a later release may send them.
func Decode(kind latent.Kind, data []byte) (Record, error) {
	if len(data) > MaxRecord {
		return nil, fmt.Errorf("%s: %d bytes, expected at most %d", kind, len(data), MaxRecord)
	}
	var r Record
	switch kind {
	case latent.KindLatent:
		r = &LatentRecord{}
	case latent.KindSDE:
		r = &SDERecord{}
	case latent.KindEvent:
		r = &EventRecord{}
	case latent.KindTrigger:
		r = &TriggerRecord{}
	case latent.KindHealth:
		r = &HealthRecord{}
	case latent.KindView:
		r = &ViewRecord{}
	case latent.KindObjects:
		r = &ObjectsRecord{}
	case latent.KindTrack:
		r = &TrackRecord{}
	case latent.KindPopulation:
		r = &PopulationRecord{}
	case latent.KindWorker:
		r = &WorkerRecord{}
	default:
		return nil, fmt.Errorf("messages of kind %.40q are not known", kind)
	}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s: not a driftscope message: %w", kind, err)
	}
	if h := r.header(); h.V != latent.Version {
		return nil, fmt.Errorf("%s: message version %d, this build reads %d: use the release that wrote it, or a later one", kind, h.V, latent.Version)
	} else if h.Kind != kind {
		return nil, fmt.Errorf("%s: found a message of kind %.40q", kind, h.Kind)
	}
	if err := check(r); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return r, nil
}

// check refuses a record with inconsistent parts.
func check(r Record) error {
	switch r := r.(type) {
	case *LatentRecord:
		if len(r.Z) == 0 {
			return errors.New("no latent dimensions")
		}
		if ahead := len(r.Horizons); ahead > MaxHorizons || len(r.Forecast) != ahead*len(r.Z) || len(r.ForecastSD) != ahead*len(r.Z) {
			return fmt.Errorf("%d horizons with forecasts of %d and %d numbers, expected at most %d, each with %d numbers", ahead, len(r.Forecast), len(r.ForecastSD), MaxHorizons, len(r.Z))
		}
		return sameLength(len(r.Z), len(r.SD), len(r.Drift), len(r.Filtered), len(r.FilteredSD))
	case *SDERecord:
		if f := r.Field; f != nil {
			if err := sameLength(len(f.Z), len(f.Drift), len(f.SD), len(f.Scarce)); err != nil || len(f.Axes) == 0 || len(f.Axes) > 2 || len(f.Z) > MaxField {
				return fmt.Errorf("a drift field along %d axes, of %d, %d, %d and %d points: expected 1 or 2 axes and up to %d points in each list",
					len(f.Axes), len(f.Z), len(f.Drift), len(f.SD), len(f.Scarce), MaxField)
			}
		}
		return sameLength(len(r.Sigma), len(r.SigmaLow), len(r.SigmaHigh), len(r.Diffusion), len(r.Noise), len(r.Activity), len(r.PixelsPerLatentX), len(r.PixelsPerLatentY))
	case *EventRecord:
		if len(r.Text) > maxText || len(r.Code) > maxText {
			return fmt.Errorf("text of %d bytes, expected at most %d", max(len(r.Text), len(r.Code)), maxText)
		}
	case *TriggerRecord:
		if n := max(len(r.Name), len(r.Rule), len(r.Unit)); n > maxText {
			return fmt.Errorf("text of %d bytes, expected at most %d", n, maxText)
		}
	case *ObjectsRecord:
		return checkObjects(r)
	case *TrackRecord:
		if len(r.Why) > maxText || len(r.Change) > maxText {
			return fmt.Errorf("text of %d bytes, expected at most %d", max(len(r.Why), len(r.Change)), maxText)
		}
	case *PopulationRecord:
		return checkPopulation(r)
	case *WorkerRecord:
		return checkWorker(r)
	case *HealthRecord:
		if len(r.Stages) > maxStages || len(r.Dropped) > maxStages || len(r.Alarms) > maxStages {
			return fmt.Errorf("%d stages, %d causes of loss and %d codes of alarms, expected at most %d", len(r.Stages), len(r.Dropped), len(r.Alarms), maxStages)
		}
		long := func(c CameraRecord) bool { return max(len(c.Stream), len(c.Out)) > maxText }
		if len(r.Cameras) > MaxCameras || slices.ContainsFunc(r.Cameras, long) {
			return fmt.Errorf("%d cameras, expected at most %d, and texts of at most %d bytes", len(r.Cameras), MaxCameras, maxText)
		}
	}
	return nil
}

// sameLength requires lists with one entry per latent dimension, or empty lists for parts that are still unknown.
func sameLength(lengths ...int) error {
	for _, n := range lengths[1:] {
		if n != lengths[0] && n != 0 {
			return fmt.Errorf("lists of %v entries, expected one entry per latent dimension in each", lengths)
		}
	}
	return nil
}
