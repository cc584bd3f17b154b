package finder

// The finder's most important numbers, and the effect of other values. The numbers of the filters' geometry are next to their use.
const (
	smallest   = .8   // px: the smallest scale, for a sharp lens on a coarse camera. Half of it finds single hot pixels
	looks      = 10   // frames that Learn reads. Fewer miss objects that come and go; more take longer
	falseFinds = .02  // number of false blobs per frame and scale from noise alone. Ten times as many: weak spots and noise look the same
	unlikely   = .01  // share of films of pure noise with a find: the significance of a film's objects
	marginSD   = 1.15 // margin for an underrated noise: its sd is known to a few percent, and its tails are not normal
	joint      = .88  // of the lower of two peaks: a path above it joins them to one object
	clearing   = .6   // least depth of a valley between objects and weaker blobs
	weakest    = .6   // as a fraction of the significance: a track may use weaker places, down to this
	held       = .8   // least share of fine detail in a few large bodies to be their texture
	detail     = 4    // least number of such details per body: a cell with a spot or two has no texture
	peaky      = 6    // least kurtosis of a picture with objects, at their scale; a random texture has 3
	lopsided   = .7   // least skewness of a picture with objects of one polarity; a random texture has 0, and up to .6 with twenty grains
	double     = 1.45 // usual areas above which a body may be two that touch
	small      = .3   // of the usual area: smaller pieces are not bodies
	alike      = .8   // least agreement of a single object's looks to have one look; below it is a body that bends
	doubted    = .7   // certainty below which a find is doubtful
)
