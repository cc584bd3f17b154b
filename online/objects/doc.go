// Package objects estimates a field of many objects: spots of frames in; objects with identities, their laws and the law of all objects out.
//
// Estimator takes a frame through tracks and laws. Its reports are latent.Objects, Track and Population. Save and Restore keep the state that
// outlives objects.
//
// A frame does O(1) work per object. Verdicts on ended objects and the law of all objects are computed beside the frame path.
//
// Package tracks assigns identities; package population learns the laws. Lengths are in px of the original frame, times in s.
package objects
