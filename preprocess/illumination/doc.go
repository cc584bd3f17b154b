// Package illumination models a lamp's effect on a whole picture and separates it from motion. A frame x at time t is
//
//	x(p) = g(t) B(p) + o(t) + a(t) X(p) + b(t) Y(p) + objects(p) + noise,    X, Y in [-½, ½]
//
// with a still reference B, a gain g and a plane of added light o, a, b. A Form selects the terms that are fitted, and whether odd rows have separate light, as
// in interlaced cameras. Fitter.Fit estimates the terms in one frame by robust regression on B with Cauchy weights: moving objects cover the smaller part of a
// picture and count as outliers. It uses a Thumbnail of each frame, which has the means over boxes, separately for even and odd rows. Choose selects form and
// reference from frames, by the likelihood of parts of pictures that the fit did not use.
package illumination
