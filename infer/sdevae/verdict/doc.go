// Package verdict says whether a trained model can be believed on its clip. It is pure: what it judges by is handed to it.
//
//	evidence.go     what lasts from frame to frame in held-out pictures, and is not in the drawings
//	measurement.go  the latents beside an independent measurement of an object's place, where there is one
//	latents.go      each latent: whether it varies at all, and whether that is more than noise
//	straight.go     whether the latents diffuse alike everywhere
//	share.go        ratios of means, with the standard errors that frames which depend on each other leave
//
// A verdict is the worst of its findings. Bad is what a test excludes from being right, with one wrong alarm in twenty (Doubted); doubt is what
// an estimate says, or what nothing tells.
package verdict
