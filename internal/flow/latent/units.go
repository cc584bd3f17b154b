package latent

// Calibration reports whether the object's centroid determines lengths for the latents.
type Calibration string

// The values of Calibration. It is empty for a stream whose frames have no centroids.
const (
	Calibrated  Calibration = "on"
	Brief       Calibration = "too_few_frames"
	Motionless  Calibration = "no_motion"     // no dimension is active
	Unexplained Calibration = "not_explained" // the latents do not explain the position of the centroid
)

// Units is the law of motion in units of the frame. Without calibration, only Calibration and R2 are set.
type Units struct {
	Calibration      Calibration `json:"calibration,omitempty"`
	R2               []float64   `json:"calibration_r2,omitempty"`      // of the centroid's x and y, the share that the latents explain of what lasts from frame to frame
	PixelsPerLatentX []float64   `json:"pixels_per_latent_x,omitempty"` // how far the centroid moves to the right a latent, one entry a dimension
	PixelsPerLatentY []float64   `json:"pixels_per_latent_y,omitempty"` // downwards
	Px               Spread      // px²/s
	UM               Spread      // µm²/s; zero where a pixel's size is not known
}

// Spread is the coefficient of diffusion D in the plane of the picture (mean square displacement 4Dt), with its 95 % interval. X and Y are the coefficients
// along the axes; D is their mean.
type Spread struct{ D, Low, High, X, Y float64 }

// Copy makes u a deep copy of src, and reuses u's memory.
func (u *Units) Copy(src *Units) {
	old := *u
	*u = *src
	u.R2 = append(old.R2[:0], src.R2...)
	u.PixelsPerLatentX = append(old.PixelsPerLatentX[:0], src.PixelsPerLatentX...)
	u.PixelsPerLatentY = append(old.PixelsPerLatentY[:0], src.PixelsPerLatentY...)
}
