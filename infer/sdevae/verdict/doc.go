// Package verdict judges whether a trained model is reliable on its clip. It is pure: the caller passes all evidence.
//
//	evidence.go     the persistent signal of held-out pictures that the drawings lack
//	measurement.go  the latents compared with an independent measurement of an object's place, if there is one
//	latents.go      each latent: whether it varies at all, and by more than noise
//	straight.go     whether the latents diffuse alike everywhere
//	share.go        ratios of means, with standard errors for frames that depend on each other
//
// A verdict is the worst of its findings. Bad means that a test excludes a correct model, with one wrong alarm in twenty (Doubted). Doubt means
// that an estimate is poor, or that nothing tests it.
package verdict
