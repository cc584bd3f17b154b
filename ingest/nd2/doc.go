// Package nd2 reads films that Nikon's NIS-Elements wrote as ND2 files of version 3: Open reads the map of chunks,
// attributes, loops and calibration, Film.Read one picture.
//
// It reads pictures of 8 and 16 bits and floats, uncompressed or zlib. The components of a pixel are channels, also the
// colours of a camera; the loops of time and slices are axes. It rejects by name several stage positions, lossy compression,
// and versions 1 and 2. The file's size and fixed limits bound every allocation.
//
// Nikon publishes no description; the layout follows the package nd2 (https://github.com/tlambert03/nd2).
package nd2
