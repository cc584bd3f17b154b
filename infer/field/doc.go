// Package field takes the place of a trained encoder where a picture shows many objects: it turns frames into spots, as package locate finds them.
//
//	picture.go   Picture: a step that makes a frame grey, float32, for those behind it; it needs no order
//	template.go  Template: the step that finds how wide objects are, in the first frames; it needs the frames in order
//	exposure.go  pictures that are cut off at the brightest value
//	encoder.go   Encoder: the spots of a frame, in pixels of the frame as it was read
//	look.go      Look: what the object at a spot looks like, by a model of objects
//	cut.go       the square around a spot that the model sees
//	viewer.go    Viewer: the frame as people see it
package field
