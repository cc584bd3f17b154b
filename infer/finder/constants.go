package finder

// The finder's numbers that decide most, and what others do. Those of the filters' geometry stand where they are used.
const (
	smallest   = .8   // px: the smallest scale, that of a sharp lens on a coarse camera. Half of it finds single hot pixels
	looks      = 10   // frames that Learn looks at. Fewer miss objects that come and go; more cost time
	falseFinds = .02  // places a frame and scale that noise alone gives. Ten times as many: weak spots and noise alike
	unlikely   = .01  // films of noise with a find: significance of a film's objects
	marginSD   = 1.15 // by how much the noise may be underrated: its sd is known to a few percent, and its tails are none of a normal law's
	joint      = .88  // of the lower of two peaks: a path that stays above it joins them to one object
	clearing   = .6   // depth of a valley between objects and what is weaker, from which on it is one
	weakest    = .6   // of the significance: weaker places are kept where a track wants them
	held       = .8   // share of fine detail that lies in a few large bodies, from which on it is their texture
	detail     = 4    // pieces of such detail in each body, at least: cells with a spot or two in them are no cells with texture
	peaky      = 6    // kurtosis of the picture at the objects' scale from which on it shows objects; a random texture has 3
	lopsided   = .7   // skewness of it from which on it shows objects of one polarity; a random texture has 0, to .6 where it has twenty grains
	double     = 1.45 // usual areas from which on a body may be two that touch
	small      = .3   // of the usual area: less is no body
	alike      = .8   // agreement of a single object's looks from which on it has one look, and is no body that bends
	doubted    = .7   // certainty below which a find is doubtful
)
