// Package objects estimates a field of many objects: spots of frames in; objects with identities, their laws and the law of all objects out.
//
//	estimator.go  Estimator: the path of a frame through tracks and laws
//	pace.go       missing frames, by the times of the others
//	held.go       frames held back by the lag
//	object.go     the state of one object, and its reports
//	follow.go     the followed object: its places are the latents of a single object, for online.Estimator
//	state.go      the state of an object after its last step
//	verdicts.go   ended objects are judged outside the frame path
//	way.go        the last places of an object, for its verdict
//	report.go     the population, alarms
//	changed.go    the alarms about the law of all objects, and their effect
//	checkpoint.go the state that outlives objects: save and restore
//
// Package tracks assigns identities; package population learns the laws. Lengths are in px of the original frame, times in s.
package objects
