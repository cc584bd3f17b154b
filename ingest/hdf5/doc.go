// Package hdf5 reads films that lie in a dataset of an HDF5 file, as cameras' programs, h5py and MATLAB (7.3) write them.
//
//	Open ──► superblock ──► groups ──► Dataset ──► index of chunks ──► Image ──► Read
//
// Read are superblocks 0 to 3, object headers 1 and 2, groups of symbol tables, of link messages and of links in heaps, data that is compact, contiguous or in chunks that a
// B-tree of version 1, a fixed or extensible array, an implicit index or none lists; the filters deflate, shuffle, Fletcher-32 and LZF. Unsigned samples of 8 and
// 16 bits keep their values; 32-bit unsigned, signed and floating-point samples of 32 and 64 bits become float32. Everything else ends in an error that
// names what was found.
//
// No number in a file is trusted: headers, names, shapes, chunks and what a chunk unpacks to are bounded before memory is taken, and no block of an index is
// read twice, so that none runs in a circle; what lies over itself is counted each time. Checksums of metadata are not looked at.
//
// The format: https://docs.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html (version 3.0).
package hdf5
