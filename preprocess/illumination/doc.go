// Package illumination is what a lamp does to a whole picture, and how it is told from what moves. A frame x at time t is
//
//	x(p) = g(t) B(p) + o(t) + a(t) X(p) + b(t) Y(p) + objects(p) + noise,    X, Y in [-½, ½]
//
// with a still reference B, a gain g and a plane of added light o, a, b. A form says which of them there are, and whether odd rows have their own, as
// of interlaced cameras. Fit estimates them in one frame by robust regression on B (Cauchy weights): what moves covers the smaller part
// of a picture and counts as outliers. It sees a thumbnail of each frame, means over boxes of its even and of its odd rows.
//
//	illumination.go  Model: a form and its reference; Fit: one frame's light
//	thumbnail.go     Thumbnail: what is fitted
//	choose.go        Choose: form and reference from frames, by the likelihood of those parts of a picture that a fit has not seen
package illumination
