// Package sim makes pictures with a known law of motion. An SDE moves a latent point, a renderer draws it, optionally with
// noise, and Scene.Next returns Picture and Truth. Scene.Record writes PNG or TIFF, and CSV.
//
// laws.go has the laws, sde.go walks them. Renderers draw a latent point (balls.go, digits.go, dna.go, molecule.go,
// wasserstein.go). Camera scenes use a backdrop with noise from tables (backdrop.go, emccd.go), others pixelnoise.go.
// expected.go has a frame's expected values and their information. A new scene needs its law, its renderer, its test and one
// line in kinds.go.
//
// The same name, seed and number of frames give the same pictures on one machine: law, pixels and assets have separate random
// streams. The laws follow Hasan, Pereira, Farsiu and Tarokh, "Identifying latent stochastic differential equations" (2021),
// with corrected signs if the printed law explodes.
package sim
