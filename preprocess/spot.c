#include "spot.h"

#include <stddef.h>

#include "wide.h"

enum { lanes = 16 };

// mirrored maps an index into 0..n-1 by reflection. The reflection repeats the outermost pixels.
static int mirrored(int i, int n) {
  if (i < 0) i = -i - 1;
  if (i >= n) i = 2 * n - 1 - i;
  return most(i, 0);
}

// scale starts a sum of products. addBoth adds the products of the two values at the same distance on both sides.
static inline void scale(float* restrict sum, const float* restrict a, float k, int n) {
  for (int x = 0; x < n; x++) sum[x] = k * a[x];
}

static inline void addBoth(float* restrict sum, const float* a, const float* b, float k, int n) {
  for (int x = 0; x < n; x++) sum[x] += k * (a[x] + b[x]);
}

WIDE void ds_blur(ds_picture in, const float* half, int reach, float* out, float* line) {
  const int w = in.width, h = in.height;
  float* inside = line + reach;
  for (int y = 0; y < h; y++) {
    scale(inside, in.pixels + (size_t)y * w, half[0], w);
    for (int k = 1; k <= reach; k++) {
      addBoth(inside, in.pixels + (size_t)mirrored(y - k, h) * w, in.pixels + (size_t)mirrored(y + k, h) * w, half[k], w);
    }
    for (int k = 1; k <= reach; k++) {
      inside[-k] = inside[mirrored(-k, w)];
      inside[w - 1 + k] = inside[mirrored(w - 1 + k, w)];
    }
    float* row = out + (size_t)y * w;
    scale(row, inside, half[0], w);
    for (int k = 1; k <= reach; k++) addBoth(row, inside - k, inside + k, half[k], w);
  }
}

// first returns the index of the first of n values that equals wanted, which must occur.
static inline int first(const float* values, int n, float wanted) {
  int i = 0;
  for (int here = 0; i + lanes <= n; i += lanes) {
    for (int j = 0; j < lanes; j++) here |= values[i + j] == wanted;
    if (here) break;
  }
  while (values[i] != wanted) i++;
  return i;
}

WIDE ds_places ds_extremes(const float* values, int n) {
  float low[lanes], high[lanes], nothing[lanes]; // nothing becomes NaN if a value is not finite
  for (int j = 0; j < lanes; j++) low[j] = high[j] = values[0], nothing[j] = 0;
  int i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (int j = 0; j < lanes; j++) {
      const float v = values[i + j];
      low[j] = v < low[j] ? v : low[j];
      high[j] = v > high[j] ? v : high[j];
      nothing[j] += v - v;
    }
  }
  for (; i < n; i++) {
    const float v = values[i];
    low[0] = v < low[0] ? v : low[0];
    high[0] = v > high[0] ? v : high[0];
    nothing[0] += v - v;
  }
  for (int j = 1; j < lanes; j++) {
    low[0] = low[j] < low[0] ? low[j] : low[0];
    high[0] = high[j] > high[0] ? high[j] : high[0];
    nothing[0] += nothing[j];
  }
  ds_places found = {0, 0, 0};
  if (nothing[0] == 0) {
    found.least = first(values, n, low[0]);
    found.greatest = first(values, n, high[0]);
    found.finite = 1;
  }
  return found;
}

// Columns of a disc are summed first, in blocks, because these sums do not wait for each other.
WIDE ds_moments ds_weigh(ds_picture in, double x, double y, double radius, double level, double sign, double floor) {
  ds_moments sum = {0, 0, 0};
  const int left = most(0, (int)(x - radius)), right = least(in.width, (int)(x + radius) + 2);
  const int top = most(0, (int)(y - radius)), bottom = least(in.height, (int)(y + radius) + 2);
  for (int begin = left; begin < right; begin += lanes) {
    const int n = least(lanes, right - begin);
    double across[lanes], w[lanes], down[lanes];
    for (int i = 0; i < n; i++) across[i] = (begin + i - x) * (begin + i - x), w[i] = down[i] = 0;
    for (int j = top; j < bottom; j++) {
      const float* row = in.pixels + (size_t)j * in.width + begin;
      const double within = radius * radius - (j - y) * (j - y);
      for (int i = 0; i < n; i++) {
        const double v = sign * (row[i] - level) - floor;
        const double weight = (across[i] < within) & (v > 0) ? v : 0;
        w[i] += weight;
        down[i] += weight * j;
      }
    }
    for (int i = 0; i < n; i++) {
      sum.w += w[i];
      sum.x += w[i] * (begin + i);
      sum.y += down[i];
    }
  }
  return sum;
}
