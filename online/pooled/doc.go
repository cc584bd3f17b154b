// Package pooled learns the law of all objects of a field beside the frame path, from the steps that they made of late.
//
//	trail.go     Trail: the latest steps of one object
//	memory.go    memory: steps of those that are no longer there, and of those that are
//	learner.go   Learner: when the law is learnt, and when it is put to use
//	law.go       Law: states, spectrum, the map
//	archive.go   the memory and the map's sums in a checkpoint
//
// The law is that of online/states, over the last 65,536 steps: older ones are forgotten. Its place in the stream is fixed: what is begun at frame k knows
// the steps up to k, and is put to use Lag frames later. In a live run it is put to use, and the next begun, nine times the processor time after it that it
// took, where that is later: it has a tenth of one core, measured by its thread's clock (nice.Worker). In a recording the steps that are learnt from are
// counted, one for 256 that are made. With it the map of online/maps is read, which steps go into as they come; a step of ten minutes ago counts half there.
package pooled
