/* Contrast-limited adaptive histogram equalisation (Zuiderveld 1994) of 8-bit pictures. */
#ifndef DRIFTSCOPE_PREPROCESS_EQUALISE_H
#define DRIFTSCOPE_PREPROCESS_EQUALISE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Equalises rows x cols contiguous bytes in place, to the bit as OpenCV's CLAHE does. There are tiles x tiles of them, no more than rows or
   columns; clip is the highest bin of a tile's histogram, in multiples of the mean bin. luts has room for 256 bytes a tile, weights for a float
   a column. Safe for concurrent use on different memory. */
void ds_equalise(uint8_t* pixels, int rows, int cols, int tiles, double clip, uint8_t* luts, float* weights);

#ifdef __cplusplus
}
#endif
#endif
