// Package maps infers the law of many objects over the field of view: drift and diffusion by position, traps, vortices and a flow.
//
// Map takes the steps of all objects one by one, forgets old steps, and remembers no object. Law is its result, with standard errors. Says describes traps,
// vortices and the flow in sentences.
//
// Lengths are in px and times in s. Memory is 240 kB.
//
// Steps are evaluated at their middle, so noise does not look like drift (map.go; compare Frishman and Ronceray, Physical Review X 10, 021009, 2020). The
// drift is the sum of an affine part and a Matérn field (smooth.go; Lindgren, Rue and Lindström, J. R. Stat. Soc. B 73, 423, 2011).
package maps
