package finder

// The finder's numbers.
const (
	smallest   = .8  // px: the smallest scale. A spot of a sharp lens on a coarse camera
	looks      = 10  // frames of the film that Learn looks at
	falseFinds = .02 // places a frame that noise alone gives at each scale
)
