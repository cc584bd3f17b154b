// Package tiff reads the pages of a TIFF file one after another, as a microscope writes them, and writes single pages.
//
// Read are classic TIFF and BigTIFF in both byte orders: strips and tiles, samples side by side or in planes, without
// compression or with LZW, Deflate or PackBits, with predictor 1, 2 or 3. Unsigned samples of 1 to 16 bits keep their values
// (1 bit becomes 0 and 255); 32-bit unsigned, signed and floating-point samples become float32. A palette becomes RGB, alpha is
// dropped. ImageJ's stacks beyond 4 GiB, which have one directory for all pages, are read too. Everything else ends in an error
// that names what was found.
//
// No number in a file is trusted: pages, pixels, directories and strips are bounded before memory is taken, the chain of
// directories may not run in a circle, and a strip is never decompressed beyond its expected size.
//
// TIFF 6.0: https://www.itu.int/itudoc/itu-t/com16/tiff-fx/docs/tiff6.pdf.
// BigTIFF: https://www.awaresystems.be/imaging/tiff/bigtiff.html.
package tiff
