package message

import "driftscope/internal/flow/latent"

// UnitsRecord is the part of an SDERecord that corresponds to latent.Units. Unknown values are omitted.
type UnitsRecord struct {
	Calibration      latent.Calibration `json:"calibration,omitempty"`
	R2               Numbers            `json:"calibration_r2,omitempty" unit:"1"`
	PixelsPerLatentX Numbers            `json:"pixels_per_latent_x,omitempty" unit:"px/latent"`
	PixelsPerLatentY Numbers            `json:"pixels_per_latent_y,omitempty" unit:"px/latent"`
	Px               *Number            `json:"diffusion_px2_s,omitempty" unit:"px²/s"` // in the plane; with its 95 % interval, and along x and y
	PxLow            *Number            `json:"diffusion_px2_s_low,omitempty" unit:"px²/s"`
	PxHigh           *Number            `json:"diffusion_px2_s_high,omitempty" unit:"px²/s"`
	PxAxes           Numbers            `json:"diffusion_xy_px2_s,omitempty" unit:"px²/s"`
	UM               *Number            `json:"diffusion_um2_s,omitempty" unit:"µm²/s"` // the same
	UMLow            *Number            `json:"diffusion_um2_s_low,omitempty" unit:"µm²/s"`
	UMHigh           *Number            `json:"diffusion_um2_s_high,omitempty" unit:"µm²/s"`
	UMAxes           Numbers            `json:"diffusion_xy_um2_s,omitempty" unit:"µm²/s"`
}

// unitsRecord returns the record of u. It shares u's slices.
func unitsRecord(u *latent.Units) UnitsRecord {
	r := UnitsRecord{Calibration: u.Calibration, R2: u.R2}
	if u.Calibration != latent.Calibrated {
		return r
	}
	number := func(v float64) *Number { return (*Number)(&v) }
	r.PixelsPerLatentX, r.PixelsPerLatentY = u.PixelsPerLatentX, u.PixelsPerLatentY
	r.Px, r.PxLow, r.PxHigh, r.PxAxes = number(u.Px.D), number(u.Px.Low), number(u.Px.High), Numbers{u.Px.X, u.Px.Y}
	if u.UM != (latent.Spread{}) {
		r.UM, r.UMLow, r.UMHigh, r.UMAxes = number(u.UM.D), number(u.UM.Low), number(u.UM.High), Numbers{u.UM.X, u.UM.Y}
	}
	return r
}
