#include "equalise.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "wide.h"

// Results equal OpenCV's to the bit, including rounding; wide.h describes the conditions.

enum {
  bins = 256,
  parts = 4,          // histograms per large tile, because neighbouring pixels are often equal, and an increment of a counter waits for the previous one
  manyPixels = 1024,  // number of pixels from which a tile is large
};

// tiling divides the picture into tiles for the histograms. If a side is no multiple of the number of tiles, the picture is continued by reflection to the
// right and below.
typedef struct {
  int count, width, height; // to each side; of a tile
} tiling;

static tiling divide(int rows, int cols, int n) {
  const int more = rows % n || cols % n;
  tiling t = {n, (cols + more * (n - cols % n)) / n, (rows + more * (n - rows % n)) / n};
  return t;
}

// reflected returns the index in 0..n-1 whose mirror image is i. The reflection does not repeat the outermost pixels.
static int reflected(int i, int n) {
  if (n == 1) return 0;
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
  return i;
}

// add counts n pixels, distributed over k histograms in turn.
static inline void add(int (*part)[bins], int k, const uint8_t* p, int n) {
  int x = 0;
  for (; x + 8 <= n; x += 8) {
    uint64_t eight;
    memcpy(&eight, p + x, sizeof eight);
    for (int i = 0; i < 8; i++) part[i % k][eight >> 8 * i & 255]++;
  }
  for (; x < n; x++) part[0][p[x]]++;
}

// count fills the histogram of the tile whose corner is (x0, y0).
static inline void count(int* histogram, int k, const uint8_t* pixels, int rows, int cols, tiling t, int x0, int y0) {
  int part[parts][bins];
  memset(part, 0, k * sizeof *part);
  const int inside = least(t.width, most(cols - x0, 0));
  for (int y = y0; y < y0 + t.height; y++) {
    const uint8_t* row = pixels + (size_t)reflected(y, rows) * cols;
    if (inside > 0) add(part, k, row + x0, inside);
    for (int x = inside; x < t.width; x++) part[0][row[reflected(x0 + x, cols)]]++;
  }
  memcpy(histogram, part[0], sizeof *part);
  for (int j = 1; j < k; j++) {
    for (int i = 0; i < bins; i++) histogram[i] += part[j][i];
  }
}

// limit cuts bins above highest and distributes the removed counts evenly over all bins.
WIDE static void limit(int* histogram, int highest) {
  int cut = 0;
  for (int i = 0; i < bins; i++) {
    cut += most(histogram[i] - highest, 0);
    histogram[i] = least(histogram[i], highest);
  }
  const int each = cut / bins;
  int rest = cut % bins;
  for (int i = 0; i < bins; i++) histogram[i] += each;
  const int step = rest > 0 ? most(bins / rest, 1) : 1;
  for (int i = 0; i < bins && rest > 0; i += step, rest--) histogram[i]++;
}

// nearest rounds 0..255 to the nearest integer, and halves to the even one. It adds 1.5 * 2^23, which leaves no bits for a fraction.
static inline int nearest(float v) {
  const float whole = v + 12582912.f;
  int bits;
  memcpy(&bits, &whole, sizeof bits);
  return bits & 0x3fffff;
}

// tabulate maps every grey value to the fraction of the tile's pixels up to this value, in 0..255.
WIDE static void tabulate(uint8_t* restrict lut, const int* restrict histogram, int pixels) {
  const float scale = (float)(bins - 1) / pixels;
  int sums[bins];
  for (int i = 0, sum = 0; i < bins; i++) sums[i] = sum += histogram[i];
  for (int i = 0; i < bins; i++) lut[i] = (uint8_t)least(nearest(sums[i] * scale), bins - 1);
}

// place is the position of a column or a row among the tiles' centres: the two centres around it, and the relative distance from the first.
typedef struct {
  int first, second;
  float part;
} place;

static place between(int i, int size, int n) {
  const float at = i * (1.f / size) - 0.5f;
  const int floor = (int)floorf(at);
  place p = {most(floor, 0), least(floor + 1, n - 1), at - floor};
  return p;
}

// last returns the end of the columns or rows, from i on and below n, that lie between the same centres as i.
static int last(int i, int n, int size, int tiles) {
  const place p = between(i, size, tiles);
  for (i++; i < n; i++) {
    const place q = between(i, size, tiles);
    if (q.first != p.first || q.second != p.second) break;
  }
  return i;
}

// corners are the tables of the four tiles around a part of the picture.
typedef struct {
  const uint8_t *a, *b, *c, *d; // above left, above right, below left, below right
} corners;

static inline uint8_t blend(float a, float b, float c, float d, float right, float below) {
  const float left = 1.f - right;
  return (uint8_t)nearest((a * left + b * right) * (1.f - below) + (c * left + d * right) * below);
}

// look replaces n pixels of a row, with four table look-ups per pixel.
static void look(uint8_t* p, int n, const corners* t, const float* right, float below) {
  for (int x = 0; x < n; x++) p[x] = blend(t->a[p[x]], t->b[p[x]], t->c[p[x]], t->d[p[x]], right[x], below);
}

// pack puts the bytes of the four tables for one grey value into one word.
WIDE static void pack(uint32_t* restrict packed, const corners* t) {
  const uint8_t *a = t->a, *b = t->b, *c = t->c, *d = t->d;
  for (int i = 0; i < bins; i++) packed[i] = a[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16 | (uint32_t)d[i] << 24;
}

// lookPacked is like look, but needs one look-up per pixel.
WIDE static void lookPacked(uint8_t* restrict p, int n, const uint32_t* restrict packed, const float* restrict right, float below) {
  for (int x = 0; x < n; x++) {
    const uint32_t t = packed[p[x]];
    p[x] = blend((int)(t & 255), (int)(t >> 8 & 255), (int)(t >> 16 & 255), (int)(t >> 24), right[x], below);
  }
}

void ds_equalise(uint8_t* pixels, int rows, int cols, int tiles, double clip, uint8_t* luts, float* weights) {
  const tiling t = divide(rows, cols, tiles);
  const int area = t.width * t.height, highest = most((int)(clip * area / bins), 1);
  for (int k = 0; k < tiles * tiles; k++) {
    int histogram[bins];
    const int x = k % tiles * t.width, y = k / tiles * t.height;
    if (area < manyPixels) {
      count(histogram, 1, pixels, rows, cols, t, x, y);
    } else {
      count(histogram, parts, pixels, rows, cols, t, x, y);
    }
    limit(histogram, highest);
    tabulate(luts + k * bins, histogram, area);
  }
  for (int x = 0; x < cols; x++) weights[x] = between(x, t.width, tiles).part;
  for (int y = 0, bottom; y < rows; y = bottom) {
    bottom = last(y, rows, t.height, tiles);
    const place v = between(y, t.height, tiles);
    const uint8_t *above = luts + v.first * tiles * bins, *below = luts + v.second * tiles * bins;
    for (int x = 0, end; x < cols; x = end) {
      end = last(x, cols, t.width, tiles);
      const place h = between(x, t.width, tiles);
      const corners c = {above + h.first * bins, above + h.second * bins, below + h.first * bins, below + h.second * bins};
      uint32_t packed[bins];
      const int pays = (bottom - y) * (end - x) > 2 * bins;
      if (pays) pack(packed, &c);
      for (int k = y; k < bottom; k++) {
        uint8_t* p = pixels + (size_t)k * cols + x;
        const float part = between(k, t.height, tiles).part;
        if (pays) {
          lookPacked(p, end - x, packed, weights + x, part);
        } else {
          look(p, end - x, &c, weights + x, part);
        }
      }
    }
  }
}
