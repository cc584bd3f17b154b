// Package sim makes pictures whose law of motion is known: a stochastic differential equation moves a latent point, a renderer
// draws it, and the truth comes out beside the picture.
//
//	SDE ──► path ──► renderer (──► noise) ──► Picture, Truth          (Scene.Next)
//	                                                └──► PNG or TIFF, CSV   (Scene.Record)
//
// The scenes are listed in kinds.go; the laws are those of Hasan, Pereira, Farsiu and Tarokh, "Identifying latent stochastic
// differential equations" (2021), with the printed signs corrected where the printed law explodes. The same name, seed and number
// of frames give the same pictures on one machine.
package sim
