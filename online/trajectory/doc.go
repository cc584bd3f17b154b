// Package trajectory says which latents form increments, and keeps lists of latents.
//
// A trajectory is a stretch of latents of one object, told from others by its number. An increment is formed between two latents of one
// trajectory that follow each other, over the time between their acquisitions:
//
//	Clock    for a stream: the time since the latent that the present one pairs with, 0 where there is none
//	Series   one coordinate of a path that is there as a whole
//	Track    many latents in memory that is kept, and what of them is forgotten first
//
// In all of them a time step of 0 is that of a latent that pairs with none before it. No increment is formed across two trajectories, nor
// across a gap longer than is allowed. A clock that stands still or runs backwards is an error (ErrTimeOrder), as is a latent that no law can
// be fitted to (ErrLatent); both are found here and nowhere else.
package trajectory
