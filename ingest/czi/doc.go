// Package czi reads films that Zeiss' ZEN wrote as CZI files.
//
//	Open ──► file header ──► directory of subblocks, metadata, time stamps ──► Film ──► Read
//
// Read are subblocks of whole pictures, 8 and 16 bits and floats, grey or of three colours, not compressed or as Zstandard (0 and 1). Pictures of several
// tiles, several scenes and other axes than time, channel and slice, and the compressions JPEG, JPEG XR and LZW are refused by name. Reduced copies are passed over.
//
// No number in a file is trusted: directory, metadata and subblocks are bounded by the file's size and by limits of their own before memory is taken.
//
// The layout is as libCZI (https://zeiss.github.io/libczi/) and czifile (https://github.com/cgohlke/czifile) describe it.
package czi
