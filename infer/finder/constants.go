package finder

// The finder's most important numbers, with the effect of other values. The numbers for the geometry of the filters are next to their use.
const (
	smallest   = .8   // smallest scale, px, for a sharp lens on a coarse camera. Half of this value would find single hot pixels
	looks      = 10   // frames that Learn searches. Fewer miss objects that appear and disappear; more take longer
	falseFinds = .02  // false blobs per frame and scale in pure noise. With ten times this value, weak spots cannot be told from noise
	unlikely   = .01  // share of films of pure noise in which objects are found: the significance level of a film's objects
	marginSD   = 1.15 // margin for underestimated noise: its sd is known to a few percent, and its tails are not normal
	joint      = .88  // fraction of the lower of two peaks. A path that stays above it joins the two to one object
	clearing   = .6   // smallest depth of a valley between objects and weaker blobs
	weakest    = .6   // a track may use positions down to this fraction of the significance
	held       = .8   // smallest share of fine blobs inside large bodies for which the blobs count as the bodies' texture
	detail     = 4    // smallest number of fine blobs per body for a texture; one or two spots in a cell are not texture
	peaky      = 6    // smallest kurtosis of a picture with objects, at their scale; a random texture has 3
	lopsided   = .7   // smallest skewness of a picture with objects of one polarity; a random texture has 0, or up to .6 if it has only twenty grains
	double     = 1.45 // multiple of the usual area above which a body may be two that touch
	small      = .3   // fraction of the usual area; smaller pieces are not bodies
	alike      = .8   // smallest agreement between the looks of a single object with a fixed look; below it, the object is a body that bends
	doubted    = .7   // certainty below which a find is doubtful
)
