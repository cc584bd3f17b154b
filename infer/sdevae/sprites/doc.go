// Package sprites locates rigid objects in a clip before training: a background and templates that move without changing (Jojic and Frey 2001).
//
// Find searches templates, FindLowSNR objects that no single frame shows, FindOverBackground an object over a changing picture. Set holds
// templates and places. AssignIdentities decides which place belongs to which object.
//
// A Set belongs to one goroutine: its scratch pictures are shared by its methods. Places are pixels, between pixels by a parabola.
//
// Hidden Markov passes are from Viterbi (1967) and Rabiner (1989).
package sprites
