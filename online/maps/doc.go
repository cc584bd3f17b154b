// Package maps has the law of many objects over the field of view: drift and diffusion from place to place, and where there are traps, vortices and
// a flow. Steps of any object go in, one by one; no object is remembered.
//
//	map.go           Map: the steps, with forgetting
//	cell.go          the sums of a cell
//	sums.go          the tree of squares over the cells: noise, D, and where D differs
//	smooth.go        the regression of the drift, and the average over its priors
//	affine.go        its affine part
//	combinations.go  the choices of groups and sizes in it
//	band.go          banded matrices
//	law.go           Law: what the map says
//	places.go        traps, vortices, the flow
//	says.go          these in sentences
//	archive.go       the sums in a checkpoint
//
// # Steps
//
// A step Δ of an object from x to x' is asked at its middle m = (x+x')/2, of functions ψ that are bilinear in each of at most 32 x 32 cells,
//
//	b = Σ (Δ ψ(m) - D Δt ∂ψ(m)) / 2D,  G = Σ Δt (ψψ' + ½(DΔt - R) ∇ψ·∇ψ') / 2D
//
// where R is the variance of a place. Without drift E b = 0 whatever the noise is: x'-x and x+x' have independent errors, and E Δψ(m) = DΔt E∂ψ(m) for
// normal steps (Stein). At the step's beginning the noise would look like a spring of R/DΔt times ∂ ln p, and the correction of Frishman and Ronceray
// (Physical Review X 10, 021009, 2020) takes away its mean in the same way, but needs R. The second part of G takes the noise of m off and the way to
// its middle. All of it follows from 9 moments of m and 4 of Δ along each axis in a cell, whatever D and R turn out to be.
//
// # D and noise
//
// Of the residuals e = Δ - μΔt, with the noise R = -E ee'/2 of all cells' successive steps (online/population),
//
//	D = (E e² / 2 - R) / Δt  along each axis
//
// in the squares of a tree: a square is split where four D pay by evidence, (squares as many as D has degrees of freedom, as in online/regression), against
// one. Where drift makes longer steps than diffusion the cell counts for less. D and μ are found about each other three times.
//
// # Drift
//
//	μ = affine(m) + f(m);  f at the corners ~ N(0, s²(κ² - ∇²)⁻³) along each axis
//
// with sizes s and ranges √16/κ averaged by evidence, and in the affine part the groups of online/regression: constants, dilation, rotation, shears. That
// is a Matérn field of smoothness 2 as a sparse precision (Lindgren, Rue and Lindström, J. R. Stat. Soc. B 73, 423, 2011). A spring is exactly affine; a
// map of means would see steps of a cell's size times its stiffness. Standard errors are those of the mixture, what differs between beliefs in them.
//
// An error of a place lengthens a step and shortens the next, so that it stays in b only where the two are cells apart; there the cell's variance grows.
//
// # Squares that are shown
//
// The tree again: four means in place of one where the map's drift and the steps' information pay for them, 1024 squares at most.
//
// # Traps, vortices, flow
//
// At each zero of the mean drift that is no saddle windows of eleven reaches ask whether a dilation, or a rotation, pays within the affine drifts there;
// a priori a place is as likely as none, anywhere and of any reach. The rate is the map's slope. A place whose interval holds 0 is not told.
//
// # Measured
//
// On 50 objects of 200 frames, 50 a second, in 256 x 256 px: springs, wells, a vortex and a flow, noise up to R = 2DΔt. The RMS error at visited squares is
// at most 1.2 times that of offline.Fit (TestBesideFit). Errors are 0.8 to 1 standard errors for wells and a vortex, 0.6 to 1 for springs and flows, 0.8 to 1.05 for
// five others (TestErrors), docs/lab. A mixture is right on average over its prior: where the law is simpler than what might have been, as a spring is, errors are
// too long, and too short where a law is hardly told from a simpler one: a roll that is nearly a rotation, 1.8. A bootstrap at the law that was found makes springs and
// flows 1.0 and the roll 2.8, so that there is none.
//
// Of 6 films each without noise and with R = 2DΔt (docs/lab) every spring, all wells and 10 of 12 vortices were told; a shear turns, too, and was a vortex in 2
// of 12. Places are off by 0.9 to 1.1 standard errors. The rate of a well only three cells wide is too small, by 1 to 2 standard errors: the map bends
// there within a cell.
//
// # Forgetting
//
// A step of age t counts 2^(-t/half-life): steps now count more instead, and all sums are scaled back seldom. Σw² keeps how many steps tell as much as
// discounted ones, (Σw)²/Σw², which G and b are scaled to; by Σw/Σw² of all cells at most, because where nobody was for long little is known.
//
// Memory is 240 kB. Lengths are px and times s.
package maps
