// Package sim makes pictures whose law of motion is known: a stochastic differential equation moves a latent point, a renderer
// draws it, and the truth comes out beside the picture.
//
//	SDE ──► path ──► renderer (──► noise) ──► Picture, Truth          (Scene.Next)
//	                                                └──► PNG or TIFF, CSV   (Scene.Record)
//
// sde.go has the path of a law, laws.go the laws; a renderer (balls.go, digits.go, dna.go, molecule.go, wasserstein.go) draws a latent point into a
// Picture. The camera's scenes draw over a backdrop whose noise comes from tables (backdrop.go, emccd.go); others are noisy by pixelnoise.go. A new
// scene is its law, its renderer, its test and one line in kinds.go. Law, pixels and assets draw from random streams of their own, so that a
// renderer never changes a path. expected.go has a frame before chance, and what its values can tell of that.
//
// The scenes are listed in kinds.go; the laws are those of Hasan, Pereira, Farsiu and Tarokh, "Identifying latent stochastic
// differential equations" (2021), with the printed signs corrected where the printed law explodes. The same name, seed and number
// of frames give the same pictures on one machine.
package sim
