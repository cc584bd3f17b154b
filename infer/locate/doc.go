// Package locate finds the spots of a picture: every object that looks like one template, with its place to a fraction of a pixel, the place's
// covariance, and how certain it is that something is there.
//
// A picture x of h × w pixels is background, spots and the camera's noise,
//
//	x(p) = b(p) + Σₖ aₖ T(p - placeₖ) + noise,    var noise(p) = read + gain · mean(p)
//
// with a Gaussian template T of sd s, 1 at its middle; of dark spots the picture is turned over first. Places are pixels, (0, 0) the middle of the first one.
//
//	background.go  b, by clipped means of tiles, between them bilinear
//	noise.go       read and gain, by the scatter of high-passed pixels against their local mean
//	template.go    the matched filter, T * r, r the residual
//	score.go       its maxima and their scores: z(p) = Σ w T r / √Σ w T², w = 1/var noise, which is N(0, 1) where nothing is; only where r changed
//	fit.go         every spot by Gauss-Newton in what the others leave, and one more is added while the residual still shows one
//	cluster.go     spots nearer than the template is wide are fitted together
//	split.go       a spot that is longer than the template is two,
//	shape.go       as far as it is longer than most spots of the picture
//	prune.go       what the picture does not call for beside its neighbours is taken away
//	order.go       which pixels of the noise are in which bin
//	texture.go     what scatters z beyond the camera's noise is noise too
//	width.go       s, and whether spots are bright or dark, where nobody says: what leaves the least of the picture
//
// The loops over pixels are package kernel's. A Locator keeps its memory: after warm-up nothing is allocated a frame. It belongs to one goroutine.
package locate
