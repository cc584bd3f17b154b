#include "kernels.h"

#include <stddef.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

// first, from element 16 - n on, has all bits set in n elements; whole counts.
static const int first[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
static const float whole[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

INLINE int most(int a, int b) { return a > b ? a : b; }
INLINE int fewest(int a, int b) { return a < b ? a : b; }

// ordered turns the bits of a float into an int that is larger for a larger number, and back.
INLINE int ordered(int bits) { return bits ^ (bits >> 31 & 0x7fffffff); }

// mirrored brings an index into 0..n-1, of which the outermost are not doubled.
INLINE int mirrored(int i, int n) {
  if (i < 0) i = -i;
  return i >= n ? 2 * n - 2 - i : i;
}

// peak tells whether a pixel of a picture is above those about it, without a branch; of equal ones the last is.
INLINE int peak(const float* p, int width) {
  const float v = *p, *up = p - width, *down = p + width;
  return (v >= p[-1]) & (v > p[1]) & (v >= up[-1]) & (v >= up[0]) & (v >= up[1]) & (v > down[-1]) & (v > down[0]) & (v > down[1]);
}

// One copy for each width of vectors: pragmas, for target_clones would keep to vectors of 256 bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE 1
#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("avx512f")
#define LANES 16
#include "kernels_lanes.h"
#undef LANES
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2")
#define LANES 8
#include "kernels_lanes.h"
#undef LANES
#pragma GCC pop_options
#endif

#define LANES 4
#include "kernels_lanes.h"

int ds_widest(void) {
#ifdef WIDE
  if (__builtin_cpu_supports("avx512f")) return 16;
  if (__builtin_cpu_supports("avx2")) return 8;
#endif
  return 4;
}

// CALL calls a kernel's copy.
#ifdef WIDE
#define CALL(name, ...) (lanes == 16 ? name##16(__VA_ARGS__) : lanes == 8 ? name##8(__VA_ARGS__) : name##4(__VA_ARGS__))
#else
#define CALL(name, ...) name##4(__VA_ARGS__)
#endif

float ds_nth(int lanes, float* v, int n, int nth) { return CALL(nth, v, n, nth); }

void ds_near(int lanes, const float* in, int width, int y0, int y1, ds_tile* tiles, int n) { CALL(near, in, width, y0, y1, tiles, n); }

void ds_subtract(int lanes, const float* in, int width, int height, const float* lines, const ds_way* ways, float* out) {
  CALL(subtract, in, width, height, lines, ways, out);
}

void ds_roughen(const float* in, int width, int height, int stride, ds_rough* rough) {
  for (int y = 1; y + 1 < height; y += stride) {
    const float *here = in + (size_t)y * width, *up = here - width, *down = here + width;
    for (int x = 1; x + 1 < width; x += stride) {
      const float corners = up[x - 1] + up[x + 1] + down[x - 1] + down[x + 1], sides = up[x] + down[x] + here[x - 1] + here[x + 1];
      *rough++ = (ds_rough){(corners + sides + here[x]) / 9, __builtin_fabsf(corners - 2 * sides + 4 * here[x])};
    }
  }
}

int ds_sweep(int lanes, ds_filter f, const ds_area* areas, int n, float least, int* found) { return CALL(sweep, &f, areas, n, least, found); }

void ds_shape(int lanes, ds_field f, ds_patch p) { CALL(shape, &f, &p); }

void ds_move(int lanes, ds_field f, ds_patch from, float a, ds_patch to, float b) {
  CALL(light, &f, &from, a);
  CALL(shape, &f, &to);
  CALL(light, &f, &to, b);
}

void ds_sum(int lanes, ds_field f, ds_patch p, int order, ds_moments* sums) { CALL(sum, &f, &p, order, sums); }

void ds_overlap(int lanes, ds_field f, ds_patch p, ds_patch q, double* sums) { CALL(overlap, &f, &p, &q, sums); }
