// Package maps infers the law of many objects over the field of view: drift and diffusion by place, traps, vortices and a flow.
//
// Map takes steps of any object one by one, with forgetting, and remembers no object. Law is its result, with standard errors. Says puts the
// places and the flow into sentences.
//
// Lengths are in px and times in s. Memory is 240 kB.
//
// Steps are evaluated at their middle, so noise has no drift (map.go; compare Frishman and Ronceray, Physical Review X 10, 021009, 2020). The drift is an
// affine part and a Matérn field (smooth.go; Lindgren, Rue and Lindström, J. R. Stat. Soc. B 73, 423, 2011).
package maps
