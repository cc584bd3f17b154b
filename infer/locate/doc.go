// Package locate finds the spots of a picture: every object that looks like one template. It returns each place to a fraction of a pixel, with its
// covariance and a score.
//
// Locator finds the spots of one picture after another. Template is a Gaussian of one width. Width finds that width from a first guess.
//
// A score is N(0, 1) without an object. A Locator keeps its memory: after warm-up it allocates nothing per frame. It belongs to one goroutine.
//
// locate.go has the model of a picture. Package kernel has the loops over pixels.
package locate
