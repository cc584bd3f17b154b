// Package czi reads films that Zeiss' ZEN wrote as CZI files. Open reads the file header, the directory of subblocks, the metadata and the time stamps;
// Film.Read reads one picture.
//
// It reads subblocks of whole pictures: 8 and 16 bits and floats, grey or three colours, uncompressed or Zstandard (0 and 1). It rejects several tiles or
// scenes, axes other than time, channel and slice, and JPEG, JPEG XR and LZW, with an error that names the feature. It skips reduced copies. The file's size
// and fixed limits bound every allocation.
//
// The layout follows libCZI (https://zeiss.github.io/libczi/) and czifile (https://github.com/cgohlke/czifile).
package czi
