// Package change tests all objects of a field against their common law: evidence that the law has changed since it was learnt.
//
// Monitor weighs a frame's steps. Use gives it a law. Track is the evidence of one object's own steps. The caller forgets the steps after an alarm
// and learns a new law, with which evidence begins again.
//
// While the law holds, an alarm is false at most once in A frames. Checkpoints hold no evidence.
//
// The statistic is from Shiryaev (1963), Roberts (1966) and Pollak (1985): monitor.go (1), law.go (2), track.go (3), evidence.go (5).
package change
