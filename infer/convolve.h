/* The convolutions of a trunk, on the caller's thread. A map is rows x columns x channels of float32 inside a border of zeros; rows are
   continued with zeros to a multiple of 2 and columns to one of 8, so that tiles need no edges. */
#ifndef DRIFTSCOPE_INFER_CONVOLVE_H
#define DRIFTSCOPE_INFER_CONVOLVE_H

#ifdef __cplusplus
extern "C" {
#endif

/* A convolution of stride 1 that keeps the size, what it does to negative values, and pooling. Its input's border is kernel / 2. */
typedef struct {
  int rows, cols; /* of the picture that is convolved */
  int in, out;    /* channels */
  int kernel;     /* its side, odd */
  int pool;       /* the largest of 2 x 2 becomes one value if 2; 1 is none */
  int border;     /* of the map that is written */
  float slope;    /* negative values are multiplied by it before pooling; 1 leaves them */
} ds_layer;

/* The widest vectors of this processor that a kernel is made for, in floats: 16, 8 or 4. */
int ds_lanes(void);

/* Convolves the map from into the map to, whose border stays as it is. lanes is ds_lanes(), or 8 or 4 below that. weights are, for every
   lanes outputs, kernel rows x kernel columns x in x lanes, bias is one value an output; both are filled up with zeros to a multiple of
   lanes outputs. Finite weights and pictures are the caller's. Safe for concurrent use on different maps. */
void ds_convolve(int lanes, ds_layer layer, const float* weights, const float* bias, const float* from, float* to);

/* Copies channels x rows x columns into a map's inside, and a map without a border back. */
void ds_enter(const float* planes, int channels, int rows, int cols, int border, float* map);
void ds_leave(const float* map, int channels, int rows, int cols, float* planes);

#ifdef __cplusplus
}
#endif
#endif
