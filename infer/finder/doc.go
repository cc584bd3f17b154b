// Package finder finds the objects of a film without a description of them: one or many, small or large, bright, dark or ringed, spots or bodies with extent.
//
// Learn reads a sample of the film's frames and decides what moves there. Find then locates the objects in any frame. Both are pure Go and keep no reference to
// a frame after they return. The method follows ../shared/design/first-contact.md. It estimates the lamp and the noise, finds the extrema of the scale space,
// chooses the class of extrema that explains the picture, and locates the objects.
package finder
