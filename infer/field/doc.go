// Package field replaces a trained encoder if a picture shows many objects: it converts frames to spots, found by package locate.
//
//	picture.go   Picture: a step that converts a frame to grey float32; frames may come in any order
//	template.go  Template: a step that finds the objects' width and polarity in the first frames; frames must come in order
//	exposure.go  detects pictures clipped at the brightest value
//	encoder.go   Encoder: the spots of a frame, in pixels of the frame as read
//	look.go      Look: the appearance of the object at a spot, by a model of objects
//	cut.go       the square around a spot that the model reads
//	viewer.go    Viewer: the frame for display
package field
