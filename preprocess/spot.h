/* What finding and weighing one object in a small picture takes. */
#ifndef DRIFTSCOPE_PREPROCESS_SPOT_H
#define DRIFTSCOPE_PREPROCESS_SPOT_H

#ifdef __cplusplus
extern "C" {
#endif

/* A grey picture, row-major. */
typedef struct {
  const float* pixels;
  int width, height;
} ds_picture;

/* Filters a picture along both axes with the symmetric kernel of 2 reach + 1 values whose middle is half[0]; beyond its edges the picture is
   mirrored, and where it is narrower than the kernel its outermost pixels go on. out is another picture of its size, line is scratch for
   width + 2 reach values. */
void ds_blur(ds_picture in, const float* half, int reach, float* out, float* line);

/* The first places of the least and the greatest of n values, n > 0, and whether all of them are finite. */
typedef struct {
  int least, greatest, finite;
} ds_places;
ds_places ds_extremes(const float* values, int n);

/* Sums w, w x and w y over the pixels closer than radius to (x, y), with w = max(0, sign * (pixel - level) - floor). */
typedef struct {
  double w, x, y;
} ds_moments;
ds_moments ds_weigh(ds_picture in, double x, double y, double radius, double level, double sign, double floor);

#ifdef __cplusplus
}
#endif
#endif
