// Package locate finds the spots of a picture: every object that looks like one template. It returns each place to a fraction of a pixel, with its
// covariance and a score.
//
// A picture x of h × w pixels is background, spots and the camera's noise,
//
//	x(p) = b(p) + Σₖ aₖ T(p - placeₖ) + noise,    var noise(p) = read + gain · mean(p)
//
// with a Gaussian template T of sd s and height 1. Pictures of dark spots are negated first. Places are px; (0, 0) is the middle of the first pixel.
//
//	background.go  b, by clipped means of tiles, between them bilinear
//	noise.go       read and gain, by the scatter of high-passed pixels against their local mean
//	template.go    the matched filter, T * r, r the residual
//	score.go       its maxima and their scores: z(p) = Σ w T r / √Σ w T², w = 1/var noise, which is N(0, 1) where nothing is; only where r changed
//	fit.go         fits every spot by Gauss-Newton in the residual of the others, and adds spots while the residual shows more
//	cluster.go     spots nearer than the template is wide are fitted together
//	split.go       splits a spot that is longer than the template,
//	shape.go       and longer than most spots of the picture
//	prune.go       removes redundant spots next to others
//	order.go       sorts the pixels of the noise into bins
//	texture.go     counts scatter of z beyond the camera's noise as noise
//	width.go       s from a first guess: the template that leaves the smallest residual
//
// The loops over pixels are package kernel's. A Locator keeps its memory: after warm-up nothing is allocated a frame. It belongs to one goroutine.
package locate
