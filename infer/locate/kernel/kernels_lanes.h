/* The kernels for vectors of LANES floats, included by kernels.c once for each. A strip is 16 pixels of a row. */
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define NAMED(name) JOIN(name, LANES)
#define VECTOR NAMED(vector)
#define BITS NAMED(bits)
#define STRIP NAMED(strip)
#define PARTS (16 / LANES)
#define EACH _Pragma("GCC unroll 4") for (int k = 0; k < PARTS; k++)

typedef float VECTOR __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int BITS __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef struct {
  VECTOR v[PARTS];
} STRIP;

// load reads the first n of 16 values; the others are 0.
INLINE STRIP NAMED(load)(const float* p, int n) {
  STRIP s;
  if (n >= 16) {
    EACH s.v[k] = *(const VECTOR*)(p + k * LANES);
    return s;
  }
#if LANES == 16
  s.v[0] = (VECTOR)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#elif LANES == 8
  EACH s.v[k] = (VECTOR)_mm256_maskload_ps(p + k * LANES, _mm256_loadu_si256((const __m256i*)(first + 16 - n + k * LANES)));
#else
  float part[16] = {0};
  for (int i = 0; i < n; i++) part[i] = p[i];
  EACH s.v[k] = *(const VECTOR*)(part + k * LANES);
#endif
  return s;
}

// store writes the first n of 16 values.
INLINE void NAMED(store)(float* p, STRIP s, int n) {
  if (n >= 16) {
    EACH *(VECTOR*)(p + k * LANES) = s.v[k];
    return;
  }
#if LANES == 16
  _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), (__m512)s.v[0]);
#elif LANES == 8
  EACH _mm256_maskstore_ps(p + k * LANES, _mm256_loadu_si256((const __m256i*)(first + 16 - n + k * LANES)), (__m256)s.v[k]);
#else
  float part[16];
  EACH *(VECTOR*)(part + k * LANES) = s.v[k];
  for (int i = 0; i < n; i++) p[i] = part[i];
#endif
}

// total adds the columns of a strip: eight to eight, four to four, two to two.
INLINE float NAMED(total)(STRIP s) {
#if LANES == 4
  const VECTOR four = (s.v[0] + s.v[2]) + (s.v[1] + s.v[3]);
#else
#if LANES == 16
  const __m512d all = (__m512d)s.v[0];
  const __m256 eight = (__m256)_mm512_castpd512_pd256(all) + (__m256)_mm512_extractf64x4_pd(all, 1);
#else
  const __m256 eight = (__m256)(s.v[0] + s.v[1]);
#endif
  const __m128 four = _mm256_castps256_ps128(eight) + _mm256_extractf128_ps(eight, 1);
#endif
  return (four[0] + four[2]) + (four[1] + four[3]);
}

INLINE VECTOR NAMED(choose)(BITS which, VECTOR a, VECTOR b) { return (VECTOR)(((BITS)a & which) | ((BITS)b & ~which)); }

// count is 0, 1, 2, ... 15.
INLINE STRIP NAMED(count)(void) { return NAMED(load)(whole, 16); }

// exponential is exp(v), -80 < v <= 0: 2^n exp(r) with v = n ln 2 + r, |r| <= 0.35, by exp's series to r^7. Its error is 2e-7 of it.
INLINE VECTOR NAMED(exponential)(VECTOR v) {
  const VECTOR whole = v * 1.44269504f + 12582912.f; // beside 1.5 * 2^23 there are no bits for a fraction
  const VECTOR n = whole - 12582912.f, r = (v - n * 0.693359375f) + n * 2.12194440e-4f; // ln 2 in two parts, of which n times the first is exact
  VECTOR e = r * (1 / 5040.f) + 1 / 720.f;
  e = e * r + 1 / 120.f;
  e = e * r + 1 / 24.f;
  e = e * r + 1 / 6.f;
  e = e * r + 0.5f;
  e = e * r + 1;
  e = e * r + 1;
  return (VECTOR)((BITS)e + ((BITS)whole << 23));
}

// product sums the products of two strips.
INLINE float NAMED(product)(STRIP a, STRIP b) {
  EACH a.v[k] *= b.v[k];
  return NAMED(total)(a);
}

// atLeast has a bit for each of the first n of 16 values that is least or more.
INLINE unsigned long long NAMED(atLeast)(const float* p, int n, float least) {
  const STRIP s = NAMED(load)(p, n);
#if LANES == 16
  unsigned bits = _mm512_cmp_ps_mask((__m512)s.v[0], _mm512_set1_ps(least), _CMP_GE_OQ);
#elif LANES == 8
  const __m256 l = _mm256_set1_ps(least);
  unsigned bits = _mm256_movemask_ps(_mm256_cmp_ps((__m256)s.v[0], l, _CMP_GE_OQ));
  bits |= _mm256_movemask_ps(_mm256_cmp_ps((__m256)s.v[1], l, _CMP_GE_OQ)) << 8;
#else
  unsigned bits = 0;
  EACH for (int j = 0; j < LANES; j++) bits |= (unsigned)(s.v[k][j] >= least) << (k * LANES + j);
#endif
  return n < 16 ? bits & ((1u << n) - 1) : bits;
}

// nearStrip adds what of n pixels is near the level.
INLINE void NAMED(nearStrip)(const float* p, int n, float level, float far, STRIP* sum, BITS* near) {
  STRIP s = NAMED(load)(p, n), at = NAMED(count)();
  EACH {
    const VECTOR v = s.v[k] - level, size = (VECTOR)((BITS)v & 0x7fffffff);
    BITS in = size <= far;
    if (n < 16) in &= at.v[k] < (float)n;
    sum->v[k] += (VECTOR)((BITS)v & in);
    near[k] -= in;
  }
}

static void NAMED(near)(const float* in, int width, int y0, int y1, ds_tile* tiles, int n) {
  enum { most = 64 }; // strips that are summed in float32
  for (ds_tile* t = tiles; t < tiles + n; t++) {
    t->sum = t->count = 0;
    STRIP sum = {0};
    BITS near[PARTS] = {0};
    for (int y = y0, strips = 0; y < y1; y++) {
      const float* row = in + (size_t)y * width;
      int x = t->x0;
      for (; x + 16 <= t->x1; x += 16) NAMED(nearStrip)(row + x, 16, t->level, t->far, &sum, near);
      if (x < t->x1) NAMED(nearStrip)(row + x, t->x1 - x, t->level, t->far, &sum, near);
      strips += (t->x1 - t->x0 + 15) / 16;
      if (strips >= most || y + 1 == y1) {
        t->sum += NAMED(total)(sum);
        sum = (STRIP){0};
        strips = 0;
      }
    }
    EACH for (int j = 0; j < LANES; j++) t->count += near[k][j];
  }
}

static void NAMED(subtract)(const float* in, int width, int height, const float* lines, const ds_way* ways, float* out) {
  for (int y = 0; y < height; y++, in += width, out += width) {
    const float *from = lines + (size_t)ways[y].from * width, *to = lines + (size_t)ways[y].to * width;
    const float share = ways[y].share, rest = 1 - share;
    for (int x = 0; x < width; x += 16) {
      const STRIP a = NAMED(load)(from + x, width - x), b = NAMED(load)(to + x, width - x);
      STRIP v = NAMED(load)(in + x, width - x);
      EACH v.v[k] = v.v[k] - rest * a.v[k] - share * b.v[k];
      NAMED(store)(out + x, v, width - x);
    }
  }
}

// weave sums strips of the rows from rows[0] to rows[2 reach], or of one row from so many places, each times its tap. The last strip has n pixels.
INLINE void NAMED(weave)(const float* const* rows, int x, const float* taps, int reach, const int strips, int n, float* out) {
  STRIP s[4];
#pragma GCC unroll 4
  for (int j = 0; j < strips; j++) {
    s[j] = NAMED(load)(rows[reach] + x + 16 * j, j + 1 < strips ? 16 : n);
    EACH s[j].v[k] *= taps[0];
  }
  for (int i = 1; i <= reach; i++) {
    const float *before = rows[reach - i] + x, *after = rows[reach + i] + x;
#pragma GCC unroll 4
    for (int j = 0; j < strips; j++) {
      const STRIP a = NAMED(load)(before + 16 * j, j + 1 < strips ? 16 : n), b = NAMED(load)(after + 16 * j, j + 1 < strips ? 16 : n);
      EACH s[j].v[k] += taps[i] * (a.v[k] + b.v[k]);
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < strips; j++) NAMED(store)(out + x + 16 * j, s[j], j + 1 < strips ? 16 : n);
}

static void NAMED(weaveRow)(const float* const* rows, const float* taps, int reach, int n, float* out) {
  int x = 0;
  for (; x + 64 <= n; x += 64) NAMED(weave)(rows, x, taps, reach, 4, 16, out);
  const int rest = n - x, last = (rest - 1) % 16 + 1;
  if (rest > 48) {
    NAMED(weave)(rows, x, taps, reach, 4, last, out);
  } else if (rest > 32) {
    NAMED(weave)(rows, x, taps, reach, 3, last, out);
  } else if (rest > 16) {
    NAMED(weave)(rows, x, taps, reach, 2, last, out);
  } else if (rest > 0) {
    NAMED(weave)(rows, x, taps, reach, 1, last, out);
  }
}

// filter filters an area: its rows along y into a line that is mirrored beyond the edges, and that along x.
static void NAMED(filter)(const ds_filter* f, ds_area a) {
  const float *down[2 * ds_most_reach + 1], *across[2 * ds_most_reach + 1];
  const int reach = f->reach, width = f->width, start = a.x0 - reach; // the pixel that line begins with
  const int from = most(start, 0), to = fewest(a.x1 + reach, width);
  float* line = f->line - start;
  for (int i = 0; i <= 2 * reach; i++) {
    down[i] = f->in + (size_t)mirrored(a.y0 - reach + i, f->height) * width + from;
    across[i] = line + start + i;
  }
  for (int y = a.y0; y < a.y1; y++) {
    if (y > a.y0) {
      for (int i = 0; i < 2 * reach; i++) down[i] = down[i + 1];
      down[2 * reach] = f->in + (size_t)mirrored(y + reach, f->height) * width + from;
    }
    NAMED(weaveRow)(down, f->taps, reach, to - from, line + from);
    for (int x = start; x < 0; x++) line[x] = line[-x];
    for (int x = width; x < a.x1 + reach; x++) line[x] = line[2 * width - 2 - x];
    NAMED(weaveRow)(across, f->taps, reach, a.x1 - a.x0, f->out + (size_t)y * width + a.x0);
  }
}

// nth halves the range of what may be the number at index nth of all in their order, by how many are not above its middle.
static float NAMED(nth)(float* v, int n, int nth) {
  int* key = (int*)v; // in the order of the numbers: see ordered
  int least = 0x7fffffff, greatest = ~least;
  for (int i = 0; i < n; i++) {
    key[i] = ordered(key[i]);
    least = fewest(least, key[i]);
    greatest = most(greatest, key[i]);
  }
  while (least < greatest) {
    const int middle = least + (int)(((unsigned)greatest - (unsigned)least) / 2);
    int below = 0;
    for (int i = 0; i < n; i++) below += key[i] <= middle;
    if (below > nth) {
      greatest = middle;
    } else {
      least = middle + 1;
    }
  }
  for (int i = 0; i < n; i++) key[i] = ordered(key[i]);
  const int bits = ordered(least);
  float found;
  memcpy(&found, &bits, sizeof found);
  return found;
}

// peaks lists the maxima of an area.
static int NAMED(peaks)(const ds_filter* f, ds_area a, float least, int* found) {
  const int x0 = most(a.x0, 1), x1 = fewest(a.x1, f->width - 1), y0 = most(a.y0, 1), y1 = fewest(a.y1, f->height - 1);
  int n = 0;
  for (int y = y0; y < y1; y++) {
    const float* row = f->out + (size_t)y * f->width;
    for (int x = x0; x < x1; x += 64) {
      unsigned long long bits = 0; // a bit for each of 64 pixels
      for (int j = 0; j < 64 && x + j < x1; j += 16) bits |= NAMED(atLeast)(row + x + j, x1 - x - j, least) << j;
      for (; bits; bits &= bits - 1) {
        const int at = x + __builtin_ctzll(bits);
        found[n] = y * f->width + at;
        n += peak(row + at, f->width);
      }
    }
  }
  return n;
}

// Areas are looked at for maxima as soon as those below them are filtered, while they are in the cache.
static int NAMED(sweep)(const ds_filter* f, const ds_area* areas, int n, float least, int* found) {
  int maxima = 0, behind = 0;
  for (int i = 0; i < n; i++) {
    for (; areas[behind].y1 < areas[i].y0; behind++) maxima += NAMED(peaks)(f, areas[behind], least, found + maxima);
    NAMED(filter)(f, areas[i]);
  }
  for (; behind < n; behind++) maxima += NAMED(peaks)(f, areas[behind], least, found + maxima);
  return maxima;
}

// shapeAxis sets t to exp(-u^2 / 2), by a polynomial in u^2 / 2 less a multiple of ln 2.
INLINE void NAMED(shapeAxis)(float* t, float from, float narrow, int n) {
  for (int x = 0; x < n; x += 16) {
    STRIP s = NAMED(count)();
    EACH {
      const VECTOR u = (s.v[k] + (float)x + from) * narrow;
      s.v[k] = NAMED(exponential)(-0.5f * u * u);
    }
    NAMED(store)(t + x, s, n - x);
  }
}

static void NAMED(shape)(const ds_field* f, const ds_patch* p) {
  NAMED(shapeAxis)(p->tx, p->fromx, f->narrow, p->area.x1 - p->area.x0);
  NAMED(shapeAxis)(p->ty, p->fromy, f->narrow, p->area.y1 - p->area.y0);
}

static void NAMED(light)(const ds_field* f, const ds_patch* p, float a) {
  const int cols = p->area.x1 - p->area.x0;
  for (int x = 0; x < cols; x += 16) {
    const STRIP t = NAMED(load)(p->tx + x, cols - x);
    for (int y = p->area.y0; y < p->area.y1; y++) {
      float* row = f->residual + (size_t)y * f->width + p->area.x0 + x;
      const float scale = a * p->ty[y - p->area.y0];
      STRIP s = NAMED(load)(row, cols - x);
      EACH s.v[k] += scale * t.v[k];
      NAMED(store)(row, s, cols - x);
    }
  }
}

// weigh reads n pixels of the residual and of the picture: what the residual is, and the inverse of its variance.
INLINE STRIP NAMED(weigh)(const ds_field* f, size_t at, int n, STRIP* residual) {
  STRIP w = NAMED(load)(f->picture + at, n);
  *residual = NAMED(load)(f->residual + at, n);
  EACH {
    const VECTOR v = f->read + f->gain * (w.v[k] - residual->v[k]), floor = f->floor - (VECTOR){0};
    w.v[k] = 1 / NAMED(choose)(v < floor, floor, v);
  }
  return w;
}

// sumStrip adds the sums of n columns, from column x on. The rows of a column are summed for each power of v; then u is the same for all of it.
INLINE void NAMED(sumStrip)(const ds_field* f, const ds_patch* p, const int order, int x, int n, ds_moments* out) {
  STRIP square[5] = {0}, single[3] = {0};
  for (int y = p->area.y0; y < p->area.y1; y++) {
    STRIP r, w = NAMED(weigh)(f, (size_t)y * f->width + p->area.x0 + x, n, &r);
    EACH r.v[k] *= w.v[k];
    const float t = p->ty[y - p->area.y0], v = (p->fromy + (y - p->area.y0)) * f->narrow;
    float power = t * t;
#pragma GCC unroll 5
    for (int q = 0; q <= order; q++, power *= v) EACH square[q].v[k] += power * w.v[k];
    power = t;
#pragma GCC unroll 3
    for (int q = 0; q <= order / 2; q++, power *= v) EACH single[q].v[k] += power * r.v[k];
  }
  const STRIP t = NAMED(load)(p->tx + x, n), at = NAMED(count)();
  STRIP u, power;
  EACH {
    u.v[k] = (at.v[k] + (float)x + p->fromx) * f->narrow;
    power.v[k] = t.v[k] * t.v[k];
  }
#pragma GCC unroll 5
  for (int i = 0; i <= order; i++) {
#pragma GCC unroll 5
    for (int q = 0; q <= order - i; q++) out->square[i][q] += NAMED(product)(power, square[q]);
    EACH power.v[k] *= u.v[k];
  }
  power = t;
#pragma GCC unroll 3
  for (int i = 0; i <= order / 2; i++) {
#pragma GCC unroll 3
    for (int q = 0; q <= order / 2 - i; q++) out->single[i][q] += NAMED(product)(power, single[q]);
    EACH power.v[k] *= u.v[k];
  }
}

static void NAMED(sum)(const ds_field* f, const ds_patch* p, int order, ds_moments* out) {
  NAMED(shape)(f, p);
  memset(out, 0, sizeof *out);
  const int cols = p->area.x1 - p->area.x0;
  for (int x = 0; x < cols; x += 16) {
    if (order == 2) {
      NAMED(sumStrip)(f, p, 2, x, cols - x, out);
    } else {
      NAMED(sumStrip)(f, p, 4, x, cols - x, out);
    }
  }
}

// overlapStrip adds the sums of n columns of two patches, x columns after the first that both have.
INLINE void NAMED(overlapStrip)(const ds_field* f, const ds_patch* p, const ds_patch* q, ds_area both, int x, int n, double* out) {
  STRIP none = {0}, down = {0}, down2 = {0}, down3 = {0}; // of 1, p's v, q's v, and both
  for (int y = both.y0; y < both.y1; y++) {
    const int i = y - p->area.y0, j = y - q->area.y0;
    STRIP r, w = NAMED(weigh)(f, (size_t)y * f->width + both.x0 + x, n, &r);
    const float t = p->ty[i] * q->ty[j], v = (p->fromy + i) * f->narrow, v2 = (q->fromy + j) * f->narrow;
    EACH {
      w.v[k] *= t;
      none.v[k] += w.v[k];
      down.v[k] += v * w.v[k];
      down2.v[k] += v2 * w.v[k];
      down3.v[k] += v * v2 * w.v[k];
    }
  }
  const int i = both.x0 + x - p->area.x0, j = both.x0 + x - q->area.x0;
  STRIP t = NAMED(load)(p->tx + i, n), t2 = NAMED(load)(q->tx + j, n), u = NAMED(count)(), u2 = u, u3;
  EACH {
    t.v[k] *= t2.v[k];
    u.v[k] = t.v[k] * (u.v[k] + (float)i + p->fromx) * f->narrow;
    u3.v[k] = (u2.v[k] + (float)j + q->fromx) * f->narrow;
    u2.v[k] = t.v[k] * u3.v[k];
    u3.v[k] *= u.v[k];
  }
  out[0] += NAMED(product)(t, none);
  out[1] += NAMED(product)(u2, none);
  out[2] += NAMED(product)(t, down2);
  out[3] += NAMED(product)(u, none);
  out[4] += NAMED(product)(u3, none);
  out[5] += NAMED(product)(u, down2);
  out[6] += NAMED(product)(t, down);
  out[7] += NAMED(product)(u2, down);
  out[8] += NAMED(product)(t, down3);
}

static void NAMED(overlap)(const ds_field* f, const ds_patch* p, const ds_patch* q, double* out) {
  const ds_area a = p->area, b = q->area, both = {most(a.x0, b.x0), most(a.y0, b.y0), fewest(a.x1, b.x1), fewest(a.y1, b.y1)};
  memset(out, 0, 9 * sizeof *out);
  if (both.y0 >= both.y1) return;
  for (int x = 0; x < both.x1 - both.x0; x += 16) NAMED(overlapStrip)(f, p, q, both, x, both.x1 - both.x0 - x, out);
}

#undef JOINED
#undef JOIN
#undef NAMED
#undef VECTOR
#undef BITS
#undef STRIP
#undef PARTS
#undef EACH
