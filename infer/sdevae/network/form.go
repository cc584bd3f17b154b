package network

// Form is a model's structure, except for the shape of the pictures.
type Form struct {
	Latent    int       // dimension d
	Posterior Posterior // Diagonal or Cholesky
	Diffusion Diffusion // Profiled, LearntDiagonal or LearntIsotropic
	Substeps  int       // Euler-Maruyama steps of the drift within a pair
	Clock     bool      // the drift and the encoder's last layers also read the time since the trajectory began
}

// Objective is the loss that a training step minimises.
type Objective struct {
	Pairs       int     // pairs of consecutive frames per batch
	Tau         float64 // observation noise, for the squared error summed over pixels
	Nu          float64 // precision of the prior on the latents; 0 disables it
	L1          float64 // nats per unit of Σ σᵢ |∂f/∂zᵢ|; 0 disables it
	FreezeSteps int     // first steps, in which the encoder's means are frozen
	EncoderRate float64 // relative learning rate of the encoder's means after that
}

// Posterior is the form of the encoder's covariance.
type Posterior string

// Diffusion is the way in which σ enters the loss (infer/sdevae/train.go).
type Diffusion string

const (
	Diagonal Posterior = "diagonal" // S = diag s²
	Cholesky Posterior = "cholesky" // S = L L', L lower triangular with diagonal s

	Profiled        Diffusion = "profiled"  // σᵢ² at its maximum-likelihood value qᵢ, not learnt
	LearntDiagonal  Diffusion = "diagonal"  // one learnt σᵢ per dimension
	LearntIsotropic Diffusion = "isotropic" // one learnt σ for all dimensions, as in the paper
)
