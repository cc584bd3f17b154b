package frame

import "image"

// OverviewSide bounds the sides of an overview's picture, pixels.
const OverviewSide = 256

// Overview requests the whole picture from the step that cuts a region out of it. Only frames for display carry one; the first cutting step fills it in.
type Overview struct {
	Draw    bool            // Picture is wanted, too
	Picture image.Image     // the step's whole input, at most OverviewSide a side; nil if it is not wanted
	Whole   image.Point     // width and height of that input, pixels
	Region  image.Rectangle // region that was cut out, pixels; empty if there is none
}
