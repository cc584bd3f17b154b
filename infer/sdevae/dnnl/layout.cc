//go:build !nodnnl

#include "layout.h"

#include <algorithm>
#include <cstdlib>

namespace driftscope {
namespace {

int floor_div(int a, int b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

// Tap says which input a kernel's tap reads for one phase of the output, along one axis: folded pixel +cell, phase within it.
struct Tap {
	int cell, phase;
};

// tap: output pixel fo J + q of the upsampled grid, kernel tap k, lies over input pixel floor((fo J + q + k - kernel/2) / upsample),
// which is fi J + v with v below, since fo = upsample fi.
Tap tap(int q, int k, int kernel, int upsample, int fi) {
	int v = floor_div(q + k - kernel / 2, upsample);
	int cell = floor_div(v, fi);
	return {cell, v - cell * fi};
}

} // namespace

Weights::Weights(const Map &src, const Map &dst, int kernel, int upsample)
	: outputs_(dst.c), phases_(dst.f * dst.f) {
	int reach = 0;
	for (int q = 0; q < dst.f; q++)
		for (int k = 0; k < kernel; k++)
			reach = std::max(reach, std::abs(tap(q, k, kernel, upsample, src.f).cell));
	taps_ = 2 * reach + 1;
	size_t size = size_t(dst.channels()) * src.channels() * taps_ * taps_;
	folded_.resize(size);
	gradient_.resize(size);
	bias_.resize(dst.channels());
	bias_gradient_.resize(dst.channels());
	place_.reserve(size_t(dst.c) * src.c * kernel * kernel * phases_);
	for (int o = 0; o < dst.c; o++)
		for (int i = 0; i < src.c; i++)
			for (int k = 0; k < kernel * kernel; k++)
				for (int q = 0; q < phases_; q++) {
					Tap y = tap(q / dst.f, k / kernel, kernel, upsample, src.f);
					Tap x = tap(q % dst.f, k % kernel, kernel, upsample, src.f);
					int out = q * dst.c + o, in = (y.phase * src.f + x.phase) * src.c + i;
					place_.push_back(((out * src.channels() + in) * taps_ + y.cell + reach) * taps_ + x.cell + reach);
				}
}

void Weights::fold(const float *w, const float *b) {
	std::fill(folded_.begin(), folded_.end(), 0.0f);
	const int32_t *at = place_.data();
	for (size_t i = 0, n = place_.size() / phases_; i < n; i++)
		for (int q = 0; q < phases_; q++)
			folded_[*at++] += w[i];
	for (int q = 0; q < phases_; q++)
		std::copy(b, b + outputs_, bias_.begin() + q * outputs_);
}

void Weights::unfold(float *dw, float *db) const {
	const int32_t *at = place_.data();
	for (size_t i = 0, n = place_.size() / phases_; i < n; i++) {
		float sum = 0;
		for (int q = 0; q < phases_; q++)
			sum += gradient_[*at++];
		dw[i] = sum;
	}
	if (db == nullptr)
		return;
	for (int o = 0; o < outputs_; o++) {
		float sum = 0;
		for (int q = 0; q < phases_; q++)
			sum += bias_gradient_[q * outputs_ + o];
		db[o] = sum;
	}
}

} // namespace driftscope
