// # Increments
//
// Clock decides which latents form increments. Series and Track keep lists of latents.
//
// A trajectory is a stretch of latents of one object with a number of its own. An increment lies between two latents of one
// trajectory that follow each other, over the time between their acquisitions:
//
//	Clock    for a stream: the time since the latent that the present one pairs with, 0 if none
//	Series   one coordinate of a complete path
//	Track    many latents in reused memory; the oldest are forgotten first
//
// In all of them a time step of 0 marks a latent without an earlier partner. No increment is formed across two trajectories, nor
// across a gap longer than MaxGap. A clock that stops or runs backwards is an error (ErrTimeOrder), as is a latent that no law can
// be fitted to (ErrLatent); both are found here and nowhere else.
package diffusion
