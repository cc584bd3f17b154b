// Package objects is the estimator of a field of many objects: the spots of frames in; objects with identities, their laws and those of all out.
//
//	estimator.go  Estimator: a frame's way through tracks and laws
//	pace.go       frames that did not come, by the times of those that did
//	held.go       frames that a lag holds back
//	object.go     what is known of one object, and what is told of it
//	follow.go     the object that is followed: its places are the latents of a single object, for online.Estimator
//	verdicts.go   objects that have ended are judged beside the frame path
//	way.go        the last places of an object, which it is judged by
//	report.go     the population, alarms
//	changed.go    the alarms about the law of all, and what is forgotten with them
//	checkpoint.go what outlives the objects, kept and gone on from
//
// Identity is package tracks', laws are package population's. Lengths are px of the frame as it was read, times s.
package objects
