//go:build !nodnnl

#include "convolution.h"

namespace driftscope {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using forward = dnnl::convolution_forward;
using backward_data = dnnl::convolution_backward_data;
using backward_weights = dnnl::convolution_backward_weights;

// Form is what the three directions of a convolution share.
struct Form {
	dnnl::engine engine;
	memory::desc src, weights, bias, dst;
	memory::dims stride, pad;

	forward::primitive_desc ahead() const {
#if DNNL_VERSION_MAJOR < 3
		return {{dnnl::prop_kind::forward_training, algorithm::convolution_direct, src, weights, bias, dst, stride, pad, pad}, engine};
#else
		return {engine, dnnl::prop_kind::forward_training, algorithm::convolution_direct, src, weights, bias, dst, stride, pad, pad};
#endif
	}
	backward_data::primitive_desc data(const forward::primitive_desc &hint) const {
#if DNNL_VERSION_MAJOR < 3
		return {{algorithm::convolution_direct, src, weights, dst, stride, pad, pad}, engine, hint};
#else
		return {engine, algorithm::convolution_direct, src, weights, dst, stride, pad, pad, hint};
#endif
	}
	backward_weights::primitive_desc change(const forward::primitive_desc &hint) const {
#if DNNL_VERSION_MAJOR < 3
		return {{algorithm::convolution_direct, src, weights, bias, dst, stride, pad, pad}, engine, hint};
#else
		return {engine, algorithm::convolution_direct, src, weights, bias, dst, stride, pad, pad, hint};
#endif
	}
};

memory::desc picture(int n, const Map &m) {
	auto tag = m.block == 16 ? memory::format_tag::nChw16c : memory::format_tag::nChw8c;
	return {{n, m.channels(), m.rows(), m.cols()}, memory::data_type::f32, tag};
}

memory lent(const memory::desc &d, const dnnl::engine &e) { return memory(d, e, DNNL_MEMORY_NONE); }

void lend(memory &m, const float *data) { m.set_data_handle(const_cast<float *>(data)); }

} // namespace

Convolution::Convolution(const dnnl::engine &engine, int n, const Map &src, const Map &dst, int taps) {
	const auto f32 = memory::data_type::f32;
	memory::dims shape{dst.channels(), src.channels(), taps, taps};
	Form form{engine, picture(n, src), {shape, f32, memory::format_tag::any},
		{{dst.channels()}, f32, memory::format_tag::x}, picture(n, dst), {1, 1}, {taps / 2, taps / 2}};
	auto ahead = form.ahead();
	auto data = form.data(ahead);
	auto change = form.change(ahead);

	src_ = lent(form.src, engine);
	dst_ = lent(form.dst, engine);
	bias_ = lent(form.bias, engine);
	plain_ = lent({shape, f32, memory::format_tag::oihw}, engine);
	ahead_ = memory(ahead.weights_desc(), engine);
	back_ = memory(data.weights_desc(), engine);
	change_ = memory(change.diff_weights_desc(), engine);
	forward_ = dnnl::convolution_forward(ahead);
	backward_data_ = dnnl::convolution_backward_data(data);
	backward_weights_ = dnnl::convolution_backward_weights(change);
	to_ahead_ = dnnl::reorder(plain_, ahead_);
	to_back_ = dnnl::reorder(plain_, back_);
	from_change_ = dnnl::reorder(change_, plain_);
}

void Convolution::forward(dnnl::stream &stream, const float *src, const Weights &weights, float *dst) {
	lend(plain_, weights.folded());
	to_ahead_.execute(stream, plain_, ahead_);
	lend(src_, src);
	lend(bias_, weights.bias());
	lend(dst_, dst);
	forward_.execute(stream, {{DNNL_ARG_SRC, src_}, {DNNL_ARG_WEIGHTS, ahead_}, {DNNL_ARG_BIAS, bias_}, {DNNL_ARG_DST, dst_}});
	stream.wait();
}

void Convolution::backward_data(dnnl::stream &stream, float *dsrc, const Weights &weights, const float *ddst) {
	lend(plain_, weights.folded());
	to_back_.execute(stream, plain_, back_);
	lend(src_, dsrc);
	lend(dst_, ddst);
	backward_data_.execute(stream, {{DNNL_ARG_DIFF_SRC, src_}, {DNNL_ARG_WEIGHTS, back_}, {DNNL_ARG_DIFF_DST, dst_}});
	stream.wait();
}

void Convolution::backward_weights(dnnl::stream &stream, const float *src, Weights &weights, const float *ddst) {
	lend(src_, src);
	lend(dst_, ddst);
	lend(bias_, weights.bias_gradient());
	backward_weights_.execute(stream, {{DNNL_ARG_SRC, src_}, {DNNL_ARG_DIFF_WEIGHTS, change_}, {DNNL_ARG_DIFF_BIAS, bias_}, {DNNL_ARG_DIFF_DST, dst_}});
	lend(plain_, weights.gradient());
	from_change_.execute(stream, change_, plain_);
	stream.wait();
}

} // namespace driftscope
