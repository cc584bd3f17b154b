// Package change tests all objects of a field against their common law: evidence that the law has changed since it was learnt.
//
// Monitor tests the steps of each frame. Its method Use sets the law. Track is the evidence of one object's own steps. After an alarm, the caller forgets the
// old steps and learns a new law, and the evidence restarts.
//
// While the law holds, an alarm is false at most once in A frames. Checkpoints do not contain the evidence.
//
// The statistic is from Shiryaev (1963), Roberts (1966) and Pollak (1985): monitor.go (1), law.go (2), track.go (3), evidence.go (5).
package change
