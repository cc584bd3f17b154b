// Package nd2 reads films that Nikon's NIS-Elements wrote as ND2 files of version 3.
//
//	Open ──► map of chunks ──► attributes, loops, calibration ──► Film ──► Read
//
// Read are pictures of 8 and 16 bits and floats, not compressed or by zlib. Components of a pixel are channels, which the colours of a camera are, too. The
// loops of time and of slices are axes. Several positions of the stage, lossy compression and files of version 1 and 2 are refused by name.
//
// No number in a file is trusted: the map, metadata and pictures are bounded by the file's size and by limits of their own before memory is taken.
//
// Nikon publishes no description; the layout is as the package nd2 (https://github.com/tlambert03/nd2) found it.
package nd2
