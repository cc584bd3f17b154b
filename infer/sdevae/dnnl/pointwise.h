// What happens between convolutions: normalisation, activation and pooling in one pass each way, on folded maps.
// Every function works on n pictures in parallel; sums go by picture and then in order, so results do not depend on the number of threads.
#ifndef DRIFTSCOPE_POINTWISE_H
#define DRIFTSCOPE_POINTWISE_H

#include "layout.h"

namespace driftscope {

// load and store move pictures between NCHW and a map; load clears the padding.
void load(float *folded, const Map &m, const float *nchw, int n);
void store(float *nchw, const float *folded, const Map &m, int n);

// moments gives each picture's mean and sum of squared deviations per channel: partial is n x 2 x m.c.
void moments(float *partial, const float *z, const Map &m, int n);

// Point is the chain u = scale z + shift, a = u > 0 ? u : slope u, pooled 2x2 by its maximum if pool is set.
// rise and fall give the normalised value, (z - mean)/sd = rise z + fall, for the backward sums.
struct Point {
	Map src, dst;
	bool pool;
	float slope;
	const float *scale, *shift, *rise, *fall; // src.c of each
};

void activate(float *a, const float *z, const Point &p, int n);

// differentiate routes da back through pooling and activation to du, and sums du and du times the normalised value
// for each picture and channel: partial is n x 2 x src.c.
void differentiate(float *du, float *partial, const float *da, const float *z, const Point &p, int n);

// combine replaces g by a g + b z + c, with a, b and c for every folded channel of m.
void combine(float *g, const float *z, const float *a, const float *b, const float *c, const Map &m, int n);

// squash applies the logistic function in place; unsquash multiplies g by its derivative, y (1 - y).
void squash(float *y, const Map &m, int n);
void unsquash(float *g, const float *y, const Map &m, int n);

} // namespace driftscope

#endif
