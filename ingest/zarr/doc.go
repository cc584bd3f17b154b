// Package zarr reads pictures of OME-Zarr stores, complete or growing, and writes them frame by frame (Writer).
//
// It reads Zarr v2 (NGFF 0.1 to 0.4) and v3 (NGFF 0.5, with shards), and arrays without NGFF metadata if their axes can be identified. Chunks are raw, blosc
// (lz4, zstd, zlib; bytes or bits shuffled), zstd, gzip or zlib. Unsigned 8- and 16-bit samples keep their values, booleans become 0 and 255; 32-bit unsigned,
// signed and floating-point samples become float32. Everything else is an error that names the unsupported feature. All sizes are bounded before memory is
// allocated, and no path leaves the store. By the specification a missing chunk has the fill value; Image.Read counts missing chunks, and the caller decides.
//
// Zarr: https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html,
// https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html. NGFF: https://ngff.openmicroscopy.org/0.5/. Blosc:
// https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst.
package zarr
