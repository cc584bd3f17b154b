// Package ndtiff reads the index and the images of an NDTiff folder, the format that Micro-Manager writes, of versions 2 and 3.
//
// NDTiff.index is a row of entries, one an image, in the order of writing. Numbers are little-endian and 32 bits wide:
//
//	length, axes as JSON such as {"channel":"DAPI","time":7}
//	length, name of the TIFF file in the same folder
//	pixel offset, width, height, pixel type, compression, metadata offset, metadata length, metadata compression
//
// Its writer makes the file 25 MiB of zeros and each TIFF file 4 GiB, and cuts them at the end, so their sizes say nothing: the index ends
// where a length is zero. An image's pixels and metadata are written before its entry.
//
// No number in a file is trusted: axes, names, pixels and metadata are bounded, and a file's name cannot lead out of the folder.
//
// Specification: https://github.com/micro-manager/NDStorage.
package ndtiff
