// Package pooled learns the law of all objects of a field from their latest steps, outside the frame path.
//
// Trail holds the latest steps of one object. Learner decides when a law is learnt and when it comes into use. Law contains the kind of law, the states, the
// spectrum and the map.
//
// A law that is learnt from the steps up to frame k comes into use Lag frames later, so results do not depend on load (learner.go).
package pooled
