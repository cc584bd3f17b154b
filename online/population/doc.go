// Package population estimates the law of every object of a field by its own steps, and the motion that all share.
//
// A track's steps Δ along an axis follow a diffusion located with noise (Vestergaard, Blainey and Flyvbjerg, Physical Review E 89, 022726, 2014):
//
//	E Δₙ²     = 2DΔt + 2(σ² - 2RDΔt)     Δt the time of a step, σ² the variance of a place, R = exposure/6Δt the blur by motion
//	E Δₙ Δₙ₊₁ = -(σ² - 2RDΔt)
//
// so that D = (<Δ²>/2 + <ΔΔ'>)/Δt whatever σ and R are. Of N steps, with ε = σ²/DΔt - 2R,
//
//	Var D = D² [(6 + 4ε + 2ε²)/N + 4(1+ε)²/N²]     along one axis
//
//	law.go       Law: the steps of one track
//	common.go    Common: the motion that all objects share, of the stage or of the medium
//
// Lengths are px and times s. Memory is bounded by the live tracks.
package population
