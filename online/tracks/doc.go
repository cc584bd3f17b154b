// Package tracks decides, frame by frame, which detection is which object.
//
// Every track predicts the place of its object by three motions at once, an interacting-multiple-model filter (Blom and Bar-Shalom 1988):
//
//	diffusing    place' = place + N(0, q)                  q from its own steps, an inverse-gamma law, so that the prediction is Student's t
//	running      place' = place + v', v' = v + N(0, a)      v of the track, a one of three variances, weighted by their shares in the population
//	setting off  place' = place + v', of any heading        |v'| from the speed law of the population, so that the prediction is a ring
//
// An object sets off from rest, or when it takes a new heading. The population learns the share of objects born running, and the shares that set off,
// turn and stop in each frame.
//
// The object exists with a probability e (integrated probabilistic data association, Musicki, Evans and Stankovic 1994). For a detection d of score s at
// x, the likelihoods are
//
//	of the track     e D p(x) f(s)                   D the probability of a detection, p the prediction, f the scores of objects
//	of no track      c(s) + b f(s)                   c the density of false maxima, b the density of births, px⁻²
//
// The pairs of a frame are the assignment with the greatest product (numbers.Solver). c is the density of maxima of a Gaussian field filtered by the
// template (Adler 1981), so no threshold decides which maxima count. The tracker estimates b, D, the death rate, f, and the laws of q, v and a from its
// own tracks, with forgetting.
//
// Several frames may pass between two updates: the gap in frame numbers, and the frames that Pass reports. Predictions widen in each of them, objects
// end in each, and b counts all objects that began and have not ended since. A step knows its number of frames, so that a step over many frames gives
// the same estimate of q as a step over one.
//
// The last frames stay open. Two tracks are rivals from a frame on if each may be the other from there, or if one may have ended while another began.
// Every new frame compares the likelihood of the detections since then with their likelihood after a swap. If the swap is likelier, the tracks exchange
// these detections. A swapped way has its own states, and a frame adds one step to it. Only an exchange replays the motions, with the population known
// in each frame. Without a lag, published points are not corrected: after an exchange a number continues from its points before the frame. With a lag,
// points are published later, so fewer are wrong.
//
// The Link of a point is the probability that the step from the last point with a detection is of one object: a sum over all joint assignments of the
// frame, and over the other pasts of each track. After later frames it is 1/(1+o). o is the summed likelihood of the other ways of its frame with one rival
// each, divided by the likelihood of the way taken: the two tracks exchange everything since then, or only what they had in that frame. Doubt is 1 - Link,
// but after an exchange it has the place, not the step, in view. Neither covers errors of the motion models.
//
//	motion.go      the motions of a track
//	speeds.go      the law of the speeds of runs
//	population.go  what the tracks of a field have in common
//	track.go       a track: its state, and its update by a frame
//	tracker.go     Tracker: prediction, gates, assignment, births and deaths
//	rivals.go      exchanges between tracks in the last frames
//	joint.go       sums over joint assignments: the probability of every link
//	rows.go        Rows: a table of confirmed tracks
//
// Track numbers are unique and never reused. Use a Tracker from one goroutine. After warm-up it allocates nothing per object and frame.
package tracks
