// Package maps infers the law of many objects over the field of view: drift and diffusion by place, traps, vortices and a flow. It takes steps of any
// object one by one, and remembers no object.
//
//	map.go           Map: the steps, with forgetting
//	cell.go          the sums of a cell
//	sums.go          the tree of squares over the cells: noise, D, and where D differs
//	smooth.go        the regression of the drift, and the average over its priors
//	affine.go        the affine part of the drift
//	combinations.go  the choices of groups and sizes in the affine part
//	band.go          banded matrices
//	law.go           Law: the result
//	places.go        traps, vortices, the flow
//	says.go          the places and the flow in sentences
//	archive.go       the sums in a checkpoint
//
// # Steps
//
// A step Δ of an object from x to x' is evaluated at its middle m = (x+x')/2, with functions ψ bilinear in each of at most 32 x 32 cells,
//
//	b = Σ (Δ ψ(m) - D Δt ∂ψ(m)) / 2D,  G = Σ Δt (ψψ' + ½(DΔt - R) ∇ψ·∇ψ') / 2D
//
// where R is the variance of a place. Without drift E b = 0 for any noise: x'-x and x+x' have independent errors, and E Δψ(m) = DΔt E∂ψ(m) for normal
// steps (Stein). Evaluated at the start of the step, the noise would look like a spring of R/DΔt times ∂ ln p. The correction of Frishman and Ronceray
// (Physical Review X 10, 021009, 2020) removes the mean of this bias too, but needs R. The second part of G corrects for the noise of m and for the
// distance from the start to the middle. All sums follow from 9 moments of m and 4 of Δ along each axis in a cell, for any D and R.
//
// # D and noise
//
// The residuals e = Δ - μΔt, with the noise R = -E ee'/2 of successive steps in all cells (online/population), give
//
//	D = (E e² / 2 - R) / Δt  along each axis
//
// in the squares of a tree. A square is split if four values of D have more evidence than one (a sum of squares with the degrees of freedom of D, as in
// online/regression). A cell counts less if drift makes longer steps than diffusion. D and μ are computed alternately, three times.
//
// # Drift
//
//	μ = affine(m) + f(m);  f at the corners ~ N(0, s²(κ² - ∇²)⁻³) along each axis
//
// Evidence averages over sizes s and ranges √16/κ. In the affine part it averages over the groups of online/regression: constants, dilation, rotation, shears. f
// is a Matérn field of smoothness 2 with a sparse precision (Lindgren, Rue and Lindström, J. R. Stat. Soc. B 73, 423, 2011). A spring is exactly affine; a map of
// cell means would show it as steps of the cell size times the stiffness. Standard errors come from the mixture, and include the differences between its parts.
//
// An error of a place lengthens a step and shortens the next. So it remains in b only if the two steps are cells apart; then the variance of the cell grows.
//
// # Published squares
//
// The same tree: a square is split into four means if the drift of the map and the information of the steps support them, 1024 squares at most.
//
// # Traps, vortices, flow
//
// Each zero of the mean drift that is not a saddle is tested in windows of eleven reaches: does a dilation, or a rotation, have evidence within the
// affine drifts there? A priori a place is as likely as none, anywhere and with any reach. The rate is the slope of the map. Places with an interval
// that contains 0 are dropped.
//
// # Measured
//
// The films had 50 objects, 200 frames at 50 frames/s, and 256 x 256 px: springs, wells, a vortex and a flow, with noise up to R = 2DΔt. The RMS error
// at visited squares is at most 1.2 times the error of offline.Fit (TestBesideFit). Errors are 0.8 to 1 standard errors for wells and a vortex, 0.6 to 1
// for springs and flows, 0.8 to 1.05 for five other laws (TestErrors), docs/lab. A mixture is right on average over its prior. Its standard errors are
// too long if the law is simpler than the alternatives, such as a spring. They are too short if a law is hard to distinguish from a simpler one: a roll
// that is nearly a rotation has 1.8. A bootstrap at the fitted law gives 1.0 for springs and flows, but 2.8 for the roll, so the package uses none.
//
// In 6 films of each law without noise and with R = 2DΔt (docs/lab), the map found every spring, all wells and 10 of 12 vortices. A shear rotates too,
// and counted as a vortex in 2 of 12 films. Places are off by 0.9 to 1.1 standard errors. The rate of a well only three cells wide is too small, by 1 to
// 2 standard errors: its drift bends within a cell.
//
// # Forgetting
//
// A step of age t has weight 2^(-t/half-life). In practice new steps get larger weights, and all sums are scaled back from time to time. With Σw², the
// effective number of steps is (Σw)²/Σw², and G and b are scaled to it. The scale is at most Σw/Σw² of all cells, because little is known of a cell that
// objects left long ago.
//
// Memory is 240 kB. Lengths are in px and times in s.
package maps
