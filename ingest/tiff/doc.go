// Package tiff reads the pages of a TIFF file in order, as a microscope writes them, and writes single pages.
//
// It reads classic TIFF and BigTIFF in both byte orders: strips and tiles, interleaved or planar samples, uncompressed, LZW,
// Deflate or PackBits, with predictor 1, 2 or 3. Unsigned samples of 1 to 16 bits keep their values (1 bit becomes 0 and
// 255). 32-bit unsigned, signed and floating-point samples become float32. A palette becomes RGB, alpha is dropped. It reads
// ImageJ's stacks beyond 4 GiB, which have one directory for all pages. Everything else is an error that names the unsupported feature. Every size in a file is
// bounded before memory is allocated, and a chain of directories must not loop.
//
// TIFF 6.0: https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf. BigTIFF:
// https://www.awaresystems.be/imaging/tiff/bigtiff.html.
package tiff
