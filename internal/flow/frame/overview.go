package frame

import "image"

// OverviewSide bounds the sides of an overview's picture, pixels.
const OverviewSide = 256

// Overview asks the step that cuts a region out of the picture for the uncut picture. Only frames for display carry one; the first step that
// cuts fills it in.
type Overview struct {
	Draw    bool            // Picture is wanted too
	Picture image.Image     // of the step's whole input, at most OverviewSide a side; nil if it is not wanted
	Whole   image.Point     // width and height of that input, pixels
	Region  image.Rectangle // what is cut out of it, pixels; empty if nothing is
}
