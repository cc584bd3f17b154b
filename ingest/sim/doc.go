// Package sim makes pictures with a known law of motion. An SDE moves a latent point, and a renderer draws the point, optionally with noise. Scene.Next returns
// a Picture and its Truth. Scene.Record writes PNG or TIFF pictures and CSV tables.
//
// laws.go defines the laws, sde.go simulates their paths. Renderers draw a latent point (balls.go, digits.go, dna.go, molecule.go, wasserstein.go). Camera
// scenes have a backdrop with noise from tables (backdrop.go, emccd.go); noise of other scenes is in pixelnoise.go. expected.go computes the expected values of
// a frame and their Fisher information. A new scene needs its law, its renderer, its test and one line in kinds.go.
//
// The same name, seed and number of frames give the same pictures on one machine: law, pixels and assets have separate random
// streams. The laws follow Hasan, Pereira, Farsiu and Tarokh, "Identifying latent stochastic differential equations" (2021),
// with corrected signs if the printed law explodes.
package sim
