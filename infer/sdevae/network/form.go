package network

// Form is a model's structure besides the pictures' shape.
type Form struct {
	Latent    int       // dimension d
	Posterior Posterior // Diagonal or Cholesky
	Diffusion Diffusion // Profiled, or learnt
	Substeps  int       // Euler-Maruyama steps of the drift within a pair
	Clock     bool      // drift and the encoder's last layer see the time since the trajectory began
}

// Objective is the loss that a training step minimises.
type Objective struct {
	Pairs       int     // pairs of consecutive frames per batch
	Tau         float64 // observation noise on the summed squared error
	Nu          float64 // precision of the prior on the latents; 0 disables it
	L1          float64 // nats per unit of Σ σᵢ |∂f/∂zᵢ|; 0 disables it
	FreezeSteps int     // steps before the encoder's means are learnt
	EncoderRate float64 // relative learning rate of these layers
}

// Posterior is the form of the encoder's covariance.
type Posterior string

// Diffusion says how σ enters the loss (infer/sdevae/train.go).
type Diffusion string

const (
	Diagonal Posterior = "diagonal" // S = diag s²
	Cholesky Posterior = "cholesky" // S = L L', L lower triangular with diagonal s

	Profiled        Diffusion = "profiled"  // σᵢ² at its maximum of likelihood, qᵢ: nothing to learn
	LearntDiagonal  Diffusion = "diagonal"  // one σᵢ a dimension, learnt
	LearntIsotropic Diffusion = "isotropic" // one learnt σ for all dimensions, as in the paper
)
