// Package locate finds the spots in a picture, that is all objects that look like one template. It returns the position of each spot to a fraction of a pixel,
// with variances and a score.
//
// Locator finds the spots in one picture after another. The template is a Gaussian of one width. Width estimates this width from a first guess.
//
// Without an object, a score has the law N(0, 1). A Locator reuses its memory: after warm-up it allocates nothing per frame. It belongs to one goroutine.
//
// locate.go describes the model of a picture. Package kernel has the loops over pixels.
package locate
