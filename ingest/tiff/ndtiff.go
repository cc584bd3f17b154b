// # NDTiff
//
// NDIndex reads the index and the images of an NDTiff folder, versions 2 and 3, as Micro-Manager writes it.
//
// NDTiff.index holds one entry per image, in writing order. Numbers are little-endian, 32 bits wide:
//
//	length, axes as JSON such as {"channel":"DAPI","time":7}
//	length, name of the TIFF file in the same folder
//	pixel offset, width, height, pixel type, compression, metadata offset, metadata length, metadata compression
//
// The writer preallocates 25 MiB of zeros, and 4 GiB per TIFF file, so a zero length ends the index. Pixels and metadata are
// written before their entry. Every size is bounded, and no file name leads out of the folder. Specification:
// https://github.com/micro-manager/NDStorage.
package tiff
