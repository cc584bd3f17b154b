package sdevae

// Posterior is the form of the encoder's covariance.
type Posterior string

// Diffusion is how σ enters the loss (doc.go).
type Diffusion string

const (
	Diagonal Posterior = "diagonal" // S = diag s²
	Cholesky Posterior = "cholesky" // S = L L', L lower triangular with diagonal s

	Profiled        Diffusion = "profiled"  // σᵢ² at its maximum of likelihood, qᵢ: nothing to learn
	LearntDiagonal  Diffusion = "diagonal"  // one σᵢ a dimension, learnt
	LearntIsotropic Diffusion = "isotropic" // one σ for all, learnt: the paper's
)
