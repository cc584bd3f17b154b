package frame

import "image"

// OverviewSide is the largest side of an overview's picture, pixels.
const OverviewSide = 256

// Overview requests the whole picture from the first step that cuts a region out of it, and that step fills in the fields. Only frames for display have an
// Overview.
type Overview struct {
	Draw    bool            // Picture is requested, too
	Picture image.Image     // the step's whole input, with sides of at most OverviewSide; nil if not requested
	Whole   image.Point     // width and height of that input, pixels
	Region  image.Rectangle // region that was cut out, pixels; empty if none
}
