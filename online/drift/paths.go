// # Paths
//
// Law goes from a law to paths of it (path.go).
//
// A path of a law is drawn in Euler and Maruyama's steps of h. One that must end at b is a Brownian bridge, in steps drawn exactly, whose
// law has the density
//
//	dP/dB ∝ exp Σ [μᵢ(z)Δzᵢ - ½μᵢ(z)²h]/σᵢ²                                                   (Girsanov)
//
// against the learnt law in steps of h, given both ends. So bridges of that law are drawn by Metropolis and Hastings' rule: stretches of
// random length are proposed again as Brownian bridges (Elerian, Chib and Shephard 2001; Roberts and Stramer 2001), each point 400
// times. Of a spring of κ over T, begun Brownian, the variance along the bridge is then the exact one within the error of 150 to 400
// bridges (0.01 to 0.07 of it) for κT = 4, 5, 40 and 400; 100 times serve up to κT = 40.
package drift
