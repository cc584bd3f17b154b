// Package illumination models a lamp's effect on a whole picture and separates it from motion. A frame x at time t is
//
//	x(p) = g(t) B(p) + o(t) + a(t) X(p) + b(t) Y(p) + objects(p) + noise,    X, Y in [-½, ½]
//
// with a still reference B, a gain g and a plane of added light o, a, b. A Form selects the terms, and separate light for odd
// rows, as in interlaced cameras. Fitter.Fit estimates them in one frame by robust regression on B (Cauchy weights): motion
// covers the smaller part of a picture and counts as outliers. It uses a Thumbnail of each frame, means over boxes of its
// even and of its odd rows. Choose selects form and reference from frames, by the likelihood of picture parts that a fit has
// not seen.
package illumination
