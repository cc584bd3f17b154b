package numeric

// Numbers that several packages of the training share. They are set by judgement, like the ones marked tuned in other files.
const (
	Majority   float64 = 0.5  // tuned share.majority: the larger of two explanations wins: one object or two, a sprite or the rest of the motion, a sprite or the whole picture, motion or noise
	LeastLayer float64 = 0.1  // tuned share.leastLayer: share of the motion below which a layer or latent equals the residual of the others; a padding latent has 1e-16 of its noise, and one ball leaves at most a tenth in four clips
	SmallShare float64 = 0.05 // tuned share.small: share that a more flexible model explains by chance, and the noise allowed in a measurement: R² stays at 0.95, above share.agreement
	LongFilm           = 50   // tuned frames.longFilm: frames from which a mean or median picture no longer shows moving objects
	Degree             = 3    // tuned degree.smooth: degree of polynomials for smooth functions: positions of features, and pictures along slow features; a tenth of the weights of a full map
)
