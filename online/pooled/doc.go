// Package pooled learns the law of all objects of a field from their latest steps, outside the frame path.
//
//	trail.go     Trail: the latest steps of one object
//	memory.go    memory: steps of ended and of live objects
//	learner.go   Learner: when the law is learnt, and when it comes into use
//	law.go       Law: the kind of law, states, spectrum, the map
//	archive.go   the memory and the map's sums in a checkpoint
//
// The law is a states.Law over the last 65,536 steps; older steps are forgotten. Its place in the stream is fixed: learning that begins at frame k uses
// the steps up to k, and its law comes into use Lag frames later. A live run keeps learning to a tenth of one core, measured by the clock of its thread
// (system.Worker): after learning for a processor time t, it uses the law and begins the next only 9t later, if that is after Lag frames. A recording has
// a counted budget: it learns from one step per 256 new steps. Each time, the worker also reads the map of online/maps, and now and then it compares the kinds of
// law of online/exact. Steps enter the map as they
// arrive; a step of ten minutes ago counts half there.
package pooled
