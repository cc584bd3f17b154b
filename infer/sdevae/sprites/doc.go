// Package sprites locates rigid objects in a clip before training. Its model is a background and templates that move without changing (Jojic and Frey 2001).
//
// Find searches for templates, FindLowSNR for objects that are invisible in single frames, FindOverBackground for an object over a changing picture. Set holds
// the templates and the background. AssignIdentities assigns positions to objects.
//
// A Set belongs to one goroutine, because its methods share scratch pictures. Positions are in pixels, interpolated between pixels by a parabola.
//
// The algorithms for hidden Markov models are from Viterbi (1967) and Rabiner (1989).
package sprites
