// Package nd2 reads films that Nikon's NIS-Elements wrote as ND2 files of version 3: Open reads the map of chunks,
// attributes, loops and calibration, Film.Read one picture.
//
// It reads pictures of 8 and 16 bits and floats, uncompressed or zlib. The components of a pixel are channels, including the colours of a colour camera. The
// loops of time and slices are axes. It rejects several stage positions, lossy compression, and versions 1 and 2, with an error that names the feature. The
// file's size and fixed limits bound every allocation.
//
// Nikon publishes no description of the format. The layout follows the Python package nd2 (https://github.com/tlambert03/nd2).
package nd2
