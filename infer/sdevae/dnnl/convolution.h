// A convolution between two folded maps on oneDNN 2.x or 3.x, for a fixed number of pictures.
#ifndef DRIFTSCOPE_CONVOLUTION_H
#define DRIFTSCOPE_CONVOLUTION_H

#include <oneapi/dnnl/dnnl.hpp>

#include "layout.h"

namespace driftscope {

class Convolution {
public:
	Convolution(const dnnl::engine &engine, int n, const Map &src, const Map &dst, int taps);

	// forward takes the weights as plain OIHW, backward_data uses those of the last forward, backward_weights gives plain OIHW.
	void forward(dnnl::stream &stream, const float *src, const Weights &weights, float *dst);
	void backward_data(dnnl::stream &stream, float *dsrc, const Weights &weights, const float *ddst);
	void backward_weights(dnnl::stream &stream, const float *src, Weights &weights, const float *ddst);

private:
	dnnl::memory src_, dst_, bias_;
	dnnl::memory plain_;                 // weights in OIHW, the caller's memory
	dnnl::memory ahead_, back_, change_; // weights, weights for backward_data and their gradient, in oneDNN's own order
	dnnl::primitive forward_, backward_data_, backward_weights_;
	dnnl::reorder to_ahead_, to_back_, from_change_;
};

} // namespace driftscope

#endif
