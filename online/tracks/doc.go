// Package tracks decides, frame by frame, which detection is which object.
//
// Every track predicts where its object stands by three motions at once, an interacting-multiple-model filter (Blom and Bar-Shalom 1988):
//
//	diffusing    place' = place + N(0, q)                  q by its own steps, an inverse-gamma law, so that the prediction is Student's t
//	running      place' = place + v', v' = v + N(0, a)      v of the track, a one of three variances, by their shares in the population
//	setting off  place' = place + v', of any heading        |v'| by the law of speeds of the population, so that the prediction is a ring
//
// An object sets off from rest, or as it takes a new heading. The population's shares of each are learnt: of those that are born running, and in each frame of
// those that set off, that turn and that stop.
//
// and its object exists with a probability e (integrated probabilistic data association, Musicki, Evans and Stankovic 1994). With d a detection
// of score s at x, the likelihoods are
//
//	of the track     e D p(x) f(s)                   D the probability of a detection, p the prediction, f the scores of objects
//	of no track      c(s) + b f(s)                   c the density of false maxima, b that of births, px⁻²
//
// and the pairs of a frame are the assignment of the greatest product (package assignment). c is the density of maxima of a Gaussian field that was
// filtered by the template (Adler 1981), so that no threshold decides what counts; b, D, the death rate, f, and the laws of q, v and a
// are estimated from the tracks themselves, with forgetting.
//
// Between two updates more frames may pass than one: those that numbers leave out, and those that Pass tells of. Predictions widen by each of them, objects end
// in each, and b is that of all that have begun and not ended since. Their number says how long ago a track was seen, so that a step over many of them tells of q
// what one does.
//
// The last frames stay open. Rivals are two tracks of a frame of which each may be the other from there on, or one that may have ended while another
// began. With every new frame the likelihoods of all that both had since are compared with those the other way around, and
// where these are greater the tracks exchange what they have had. A way around has states of its own, which a frame adds one step to; only an exchange has them
// led through the motions again, with the population as it was known in each frame. Without a lag a number then goes on with what it had before the frame: points that are
// out are not taken back. With a lag points come later, so that fewer are wrong.
//
// A point's Doubt is o/(1+o), o the sum of the likelihoods of its frame's other ways with one rival each, over that of the way taken. After later frames, with a lag,
// a rival has two other ways: the two exchange what they had since then, or in that frame alone. Ways that three tracks share are in
// o in the update of the frame alone, and it is not in o that the motions may be wrong.
//
//	motion.go      the motions of a track
//	speeds.go      the law of the speeds of runs
//	population.go  what all tracks tell of the next
//	track.go       a track: its state, and what a frame adds to it
//	tracker.go     Tracker: prediction, gates, assignment, births and deaths
//	rivals.go      what the last frames may have had the other way around
//	rows.go        Rows: a table of confirmed tracks
//
// Numbers of tracks are never used again. A Tracker belongs to one goroutine, and after warm-up allocates nothing for an object and frame.
package tracks
