// Package sprites locates rigid objects in a clip before training: a background and templates sₖ that move without changing, at places pₖ of every
// frame, by turns (Jojic and Frey 2001), so that
//
//	Σ over frames of |x - background - Σₖ sₖ(· - pₖ)|²
//
// becomes small. In spectra a shift is a factor, so the place of highest correlation is found at once; pictures wrap around. Places are pixels, x
// and y, between pixels by a parabola.
//
//	search.go           Find: templates, one after another, then together
//	track.go            Track: places of known templates in any frames
//	shared.go           several objects of one template: Find tries that where two templates look alike
//	identity.go         AssignIdentities: which place is whose along the frames, by a hidden Markov model (Viterbi 1967)
//	low_snr.go          FindLowSNR: objects that no single frame shows, by forward and backward passes over all frames (Rabiner 1989)
//	motion.go           the random-walk prior of those passes
//	over_background.go  FindOverBackground: an object over a picture that changes as a whole
//	covered.go          Uncovered: what is behind an object that is in half of the frames or more
//	deforming.go        Deform: a single object whose light changes
//	looks.go            Looks: what frames show of a single object beyond its template
//	occluder.go         Occluder: an object with alpha, which hides what is behind it
//	offsets.go          WithoutOffsets: films of unequal grey are evened out first
//
// A Set belongs to one goroutine: its scratch pictures are shared by its methods.
package sprites
