#include "convolve.h"

#include <stddef.h>
#include <string.h>

// Tiles are inlined whole: what is constant in a call makes its loops straight lines, and their sums stay in registers.
#define INLINE static inline __attribute__((always_inline))

enum {
  alignment = 8, // columns of a map's picture are continued to a multiple of it, which every tile's width divides
};

// width is a map's row in pixels.
INLINE size_t width(int cols, int border) { return (size_t)(cols + alignment - 1) / alignment * alignment + 2 * border; }

// One kernel for each width of vectors. A multiplication and an addition become one where the processor has that: GNU C contracts them, which
// standard C would not (no -std=c11 here). Pragmas, for target_clones would keep to vectors of 256 bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE 1

#pragma GCC push_options
#pragma GCC target("avx512f")
#define LANES 16
#define TILE 8
#include "convolve_lanes.h"
#undef LANES
#undef TILE
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define LANES 8
#define TILE 4
#include "convolve_lanes.h"
#undef LANES
#undef TILE
#pragma GCC pop_options
#endif

#define LANES 4
#define TILE 4
#include "convolve_lanes.h"

int ds_lanes(void) {
#ifdef WIDE
  if (__builtin_cpu_supports("avx512f")) return 16;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 8;
#endif
  return 4;
}

void ds_convolve(int lanes, ds_layer layer, const float* weights, const float* bias, const float* from, float* to) {
#ifdef WIDE
  if (lanes == 16) {
    convolve16(&layer, weights, bias, from, to);
    return;
  }
  if (lanes == 8) {
    convolve8(&layer, weights, bias, from, to);
    return;
  }
#endif
  convolve4(&layer, weights, bias, from, to);
}

void ds_enter(const float* planes, int channels, int rows, int cols, int border, float* map) {
  for (int y = 0; y < rows; y++) {
    float* to = map + ((y + border) * width(cols, border) + border) * channels;
    for (int c = 0; c < channels; c++) {
      const float* from = planes + ((size_t)c * rows + y) * cols;
      for (int x = 0; x < cols; x++) to[x * channels + c] = from[x];
    }
  }
}

void ds_leave(const float* map, int channels, int rows, int cols, float* planes) {
  for (int c = 0; c < channels; c++) {
    for (int y = 0; y < rows; y++) {
      const float* from = map + y * width(cols, 0) * channels + c;
      for (int x = 0; x < cols; x++) *planes++ = from[(size_t)x * channels];
    }
  }
}
