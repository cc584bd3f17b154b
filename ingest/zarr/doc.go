// Package zarr reads pictures of OME-Zarr stores, finished ones and such as are being written, and writes them frame by frame.
//
// Read are Zarr v2 (NGFF 0.1 to 0.4) and v3 (NGFF 0.5), the latter with shards, and arrays without NGFF metadata whose axes can be known. Chunks are raw, or
// packed with blosc (lz4, zstd, zlib; bytes or bits shuffled), zstd, gzip or zlib. Unsigned samples of 8 and 16 bits keep their values, truth values
// become 0 and 255; 32-bit unsigned, signed and floating-point samples become float32. Everything else ends in an error that names what was found.
//
// No number in a store is trusted: metadata, shapes, chunks, shard indices and what a chunk unpacks to are bounded before memory is taken. No path in metadata leaves the store.
//
// A chunk that is not there is a fill value by the specification. Of a frame that nobody has written yet it is none: Read says how many
// chunks of a frame were missing, and what that means is the caller's to judge.
//
// Zarr v2: https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html, v3: https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html.
// NGFF: https://ngff.openmicroscopy.org/0.5/. Blosc: https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst.
package zarr
