package numeric

// Numbers that several packages of the training share. They are set by judgement, as those that say tuned beside what they decide.
const (
	Majority   float64 = 0.5  // tuned share.majority: of two things, that which holds more: one object or two, a sprite or the rest of what moves, a sprite or the whole picture, motion or noise
	LeastLayer float64 = 0.1  // tuned share.leastLayer: a layer, or a latent, that holds less than a tenth of what moves is not told from what the others leave; a padding latent has 1e-16 of its noise, of four clips with one ball a tenth at most is left
	SmallShare float64 = 0.05 // tuned share.small: what a model with more freedom explains in vain, and the noise that a measurement may have: it leaves R² of 0.95, clear of agreement
	LongFilm           = 50   // tuned frames.longFilm: frames from which a mean or median picture does not show what moves in it
	Degree             = 3    // tuned degree.smooth: of polynomials that smooth functions are fitted by: places of features, and pictures along slow features; a tenth of the weights that a whole map has
)
