// Package objects follows a field of many objects. From the spots of each frame it estimates objects with identities, their laws and the law of all objects.
//
// Estimator updates tracks and laws with each frame and reports latent.Objects, Track and Population. Save and Restore write and read the state that outlives
// objects.
//
// A frame does O(1) work per object. Verdicts on ended objects and the law of all objects are computed outside the frame path.
//
// Package tracks assigns identities; package population learns the laws. Lengths are in px of the original frame, times in s.
package objects
