// Package czi reads films that Zeiss' ZEN wrote as CZI files: file header, then directory of subblocks, metadata and time
// stamps, then Film.Read.
//
// It reads subblocks of whole pictures: 8 and 16 bits and floats, grey or three colours, uncompressed or Zstandard (0 and 1).
// It rejects by name several tiles or scenes, axes other than time, channel and slice, and JPEG, JPEG XR and LZW. It skips
// reduced copies. The file's size and fixed limits bound every allocation.
//
// The layout follows libCZI (https://zeiss.github.io/libczi/) and czifile (https://github.com/cgohlke/czifile).
package czi
