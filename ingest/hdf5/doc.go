// Package hdf5 reads films from a dataset of an HDF5 file: Open reads superblock, groups and chunk index, Image.Read one
// picture.
//
// It reads superblocks 0 to 3; object headers 1 and 2; groups as symbol tables, link messages and heaps; compact, contiguous
// and chunked data with version 1 B-trees, fixed, extensible, implicit or no index; and the filters deflate, shuffle,
// Fletcher-32 and LZF. Unsigned 8- and 16-bit samples keep their values. 32-bit unsigned, signed, and 32- and 64-bit
// floating-point samples become float32. Everything else is an error that names the unsupported feature.
//
// Every size in a file is bounded before memory is allocated. No index block is read twice, so no index loops. Metadata
// checksums are not verified. The format: https://docs.hdfgroup.org/documentation/hdf5/latest/_f_m_t3.html (version 3.0).
package hdf5
