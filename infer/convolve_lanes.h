/* The kernel for vectors of LANES floats, included by convolve.c once for each. Outputs fill the lanes. A tile is two rows of TILE pixels
   with one vector of outputs each, of half as many pixels with two, or of a quarter with four, for maps that are no wider: with fewer the sums
   would wait for one another, with more they leave the registers. In a kernel's row the inputs of a pixel lie side by side, and those of the next pixel one pixel further. The order of
   summation is that of the weights, whatever the lanes. */
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define NAMED(name) JOIN(name, LANES)
#define VECTOR NAMED(vector)
#define BITS NAMED(bits)

typedef float VECTOR __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int BITS __attribute__((vector_size(4 * LANES)));

INLINE VECTOR NAMED(choose)(BITS which, VECTOR a, VECTOR b) { return (VECTOR)(((BITS)a & which) | ((BITS)b & ~which)); }

INLINE VECTOR NAMED(larger)(VECTOR a, VECTOR b) { return NAMED(choose)(a > b, a, b); }

// put writes the first n lanes, or all where there are no more.
INLINE void NAMED(put)(float* to, VECTOR v, int n) {
  if (n >= LANES) {
    *(VECTOR*)to = v;
  } else if (n == LANES / 2) {
    memcpy(to, &v, sizeof v / 2);
  } else {
    for (int i = 0; i < n; i++) to[i] = v[i];
  }
}

// finish bends, pools and writes the lanes at output first of a tile at (x, y); those beyond the picture are left out.
INLINE void NAMED(finish)(const ds_layer* l, VECTOR (*sum)[TILE], float* to, int y, int x, int first, const int columns) {
  const int step = l->pool == 2 ? 2 : 1, rows = l->rows / step, cols = l->cols / step, n = l->out - first;
  const size_t line = width(cols, l->border);
  to += ((y / step + l->border) * line + x / step + l->border) * l->out + first;
#pragma GCC unroll 8
  for (int c = 0; c < columns; c++) {
    sum[0][c] = NAMED(choose)(sum[0][c] >= 0, sum[0][c], sum[0][c] * l->slope);
    sum[1][c] = NAMED(choose)(sum[1][c] >= 0, sum[1][c], sum[1][c] * l->slope);
  }
  if (step == 2) {
#pragma GCC unroll 8
    for (int c = 0; c < columns; c += 2) {
      const VECTOR above = NAMED(larger)(sum[0][c], sum[0][c + 1]), below = NAMED(larger)(sum[1][c], sum[1][c + 1]);
      if (y / 2 < rows && (x + c) / 2 < cols) NAMED(put)(to + c / 2 * l->out, NAMED(larger)(above, below), n);
    }
    return;
  }
#pragma GCC unroll 8
  for (int c = 0; c < columns; c++) {
    if (x + c >= cols) break;
    NAMED(put)(to + c * l->out, sum[0][c], n);
    if (y + 1 < rows) NAMED(put)(to + (line + c) * l->out, sum[1][c], n);
  }
}

// tile convolves two rows of columns pixels from (x, y) on, into vectors times LANES outputs from the given vector on.
INLINE void NAMED(tile)(const ds_layer* l, const float* weights, const float* bias, const float* from, float* to, int y, int x, int vector,
                        const int columns, const int vectors) {
  const int run = l->kernel * l->in, pixel = l->in;
  const size_t taps = (size_t)run * l->kernel * LANES, line = width(l->cols, l->kernel / 2) * pixel;
  const float* w = weights + vector * taps;
  VECTOR sum[4][2][TILE]; // vectors, rows, columns
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
#pragma GCC unroll 8
    for (int c = 0; c < columns; c++) sum[v][0][c] = sum[v][1][c] = *(const VECTOR*)(bias + (vector + v) * LANES);
  }
  for (int row = 0; row < l->kernel; row++) {
    const float *above = from + (y + row) * line + (size_t)x * pixel, *below = above + line;
    for (int k = 0; k < run; k++, w += LANES, above++, below++) {
#pragma GCC unroll 8
      for (int c = 0; c < columns; c++) {
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
          sum[v][0][c] += above[c * pixel] * *(const VECTOR*)(w + v * taps);
          sum[v][1][c] += below[c * pixel] * *(const VECTOR*)(w + v * taps);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) NAMED(finish)(l, sum[v], to, y, x, (vector + v) * LANES, columns);
}

static void NAMED(convolve)(const ds_layer* l, const float* weights, const float* bias, const float* from, float* to) {
  const int n = (l->out + LANES - 1) / LANES;
  for (int v = 0; v < n; v += 2) {
    const int narrow = TILE == 8 && l->cols <= TILE / 4 && v + 3 < n; // of smaller tiles half are as narrow
    for (int y = 0; y < l->rows; y += 2) {
      if (narrow) {
        NAMED(tile)(l, weights, bias, from, to, y, 0, v, 2, 4);
      } else if (v + 1 < n) {
        for (int x = 0; x < l->cols; x += TILE / 2) NAMED(tile)(l, weights, bias, from, to, y, x, v, TILE / 2, 2);
      } else {
        for (int x = 0; x < l->cols; x += TILE) NAMED(tile)(l, weights, bias, from, to, y, x, v, TILE, 1);
      }
    }
    if (narrow) v += 2;
  }
}

#undef JOINED
#undef JOIN
#undef NAMED
#undef VECTOR
#undef BITS
