// Package verdict judges whether a trained model is reliable on its clip. It has no side effects: the caller passes all evidence.
//
//	evidence.go     the persistent signal of held-out pictures that the reconstructions lack
//	measurement.go  the latents compared with an independent measurement of an object's position, if there is one
//	latents.go      each latent: whether it varies at all, and by more than noise
//	straight.go     whether the diffusion of the latents is the same everywhere
//	share.go        ratios of means, with standard errors for correlated frames
//
// A verdict has the level of its worst finding. Bad means that a test excludes a correct model, with one false alarm in twenty (Doubted). Doubt means that an
// estimate is poor, or that the data do not suffice for a test.
package verdict
