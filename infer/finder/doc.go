// Package finder finds the objects of a film that nobody described: one or many, small or large, bright, dark or ringed, spots or bodies with extent.
//
// Learn looks at a sample of the film's frames and decides what moves there. Find then places the objects of any frame. Both are pure Go and hold no
// reference to a frame after they return. The method follows ../shared/design/first-contact.md: first the lamp and the noise, then the extrema of
// the scale space, then the class of extrema that explains the picture, then its places.
package finder
