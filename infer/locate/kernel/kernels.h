/* The inner loops of locating spots: sums over the pixels of float32 pictures, row-major. plain.go has the same in Go. */
#ifndef DRIFTSCOPE_INFER_LOCATE_KERNELS_H
#define DRIFTSCOPE_INFER_LOCATE_KERNELS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* lanes is how many floats a vector holds: ds_widest(), or 8 or 4 below that. Every sum has the same order whatever the lanes: 16 columns side
   by side, row after row, the columns then pair by pair. No multiplication and addition become one. So all lanes give the same bits.
   All functions are safe for concurrent use on different memory. None checks a bound. */
int ds_widest(void);

/* The number at index nth of n numbers, n > 0, in their order. v is written to, and is as it was afterwards. */
float ds_nth(int lanes, float* v, int n, int nth);

/* A tile of columns x0 and before x1: sum of v - level over its pixels v with |v - level| <= far, and their count. */
typedef struct {
  int x0, x1;
  float level, far;
  double sum;
  int count;
} ds_tile;

/* Sets sum and count of n tiles in the rows from y0 on and before y1. */
void ds_near(int lanes, const float* in, int width, int y0, int y1, ds_tile* tiles, int n);

/* A row lies between two lines, by its share of the way. */
typedef struct {
  int from, to;
  float share;
} ds_way;

/* Sets each row of out to that of in less its lines: (1 - share) from + share to. */
void ds_subtract(int lanes, const float* in, int width, int height, const float* lines, const ds_way* ways, float* out);

/* The mean of 3 x 3 pixels, and the size of what the mask (1 -2 1)' (1 -2 1) makes of them. */
typedef struct {
  float mean, high;
} ds_rough;

/* Sets rough for the pixels of every so many rows and columns, from (1, 1) to those before the last. */
void ds_roughen(const float* in, int width, int height, int stride, ds_rough* rough);

/* A part of a picture: from (x0, y0) on and before (x1, y1). */
typedef struct {
  ptrdiff_t x0, y0, x1, y1;
} ds_area;

/* The most that a filter reaches to each side. */
enum { ds_most_reach = 128 };

/* A picture, and the one that it is filtered into along both axes by the symmetric filter of 2 reach + 1 taps whose middle is taps[0]. Beyond its edges
   the picture is mirrored, its outermost pixels not doubled. line is scratch for a row and 2 reach values. */
typedef struct {
  const float *in, *taps;
  float *out, *line;
  int width, height, reach;
} ds_filter;

/* Filters n areas, which follow each other by rows, and lists the indices of what is least or more there and the maximum of its 3 x 3 pixels; of equal
   ones the last is. The picture's outermost pixels are none. No two maxima touch, which is how much room found needs. */
int ds_sweep(int lanes, ds_filter f, const ds_area* areas, int n, float least, int* found);

/* What spots are fitted to: the residual r, the picture, the variance of a pixel, max(read + gain (picture - r), floor), and 1 / sd of the template. */
typedef struct {
  float* residual;
  const float* picture;
  int width;
  float read, gain, floor, narrow;
} ds_field;

/* The template of one spot, exp(-u^2 / 2) exp(-v^2 / 2), over an area; u = (fromx + x - x0) narrow, v likewise. tx and ty are its factors. */
typedef struct {
  ds_area area;
  float fromx, fromy;
  float *tx, *ty;
} ds_patch;

/* Sets tx and ty of a patch. */
void ds_shape(int lanes, ds_field f, ds_patch p);

/* Adds a times the template of the patch from, whose factors are set, to the residual; then sets the factors of the patch to, and adds b times its
   template. */
void ds_move(int lanes, ds_field f, ds_patch from, float a, ds_patch to, float b);

/* Sets a patch's factors, and sums over it with w = 1 / variance and T the template
     square[p][q] = sum w T^2 u^p v^q, p + q <= order,    single[p][q] = sum w T r u^p v^q, p + q <= order / 2
   for orders 2 and 4; other elements stay as they are. */
typedef struct {
  double square[5][5], single[3][3];
} ds_moments;
void ds_sum(int lanes, ds_field f, ds_patch p, int order, ds_moments* sums);

/* Sums w T S a b where the patches p of the template T and q of S overlap, for a in 1, u, v of p and b in 1, u, v of q, a's row by row. */
void ds_overlap(int lanes, ds_field f, ds_patch p, ds_patch q, double* sums);

#ifdef __cplusplus
}
#endif
#endif
