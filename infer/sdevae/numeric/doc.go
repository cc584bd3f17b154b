// Package numeric has the linear algebra that the trainer's packages share, on arrays whose rows are frames.
//
// Arrays of pictures and latents are []float32, row by row. Matrix and Vector pass them to BLAS without a copy. Fits use float64 and Gonum; Float64s and
// Float32s convert.
//
//	matrix.go      rows: columns, means, squared errors, x W + b
//	polynomial.go  φ(s) W over the monomials φ of s up to a degree, with its Jacobian and a least-squares fit
//	tica.go        slow components: the w of largest λ in C₁ w = λ (C₀ + ridge) w (TICA, Molgedey and Schuster 1994)
//	plane.go       pictures as half spectra: a shift is a factor; the Wiener filter of a picture under white noise
//
// Every function documents the owner of its result. Only Plane and Shift have state, so each belongs to one goroutine.
package numeric
