// One block of a trunk: [Upsample] Conv [BatchNorm] [LeakyReLU | Sigmoid] [MaxPool], with its memory.
#ifndef DRIFTSCOPE_BLOCK_H
#define DRIFTSCOPE_BLOCK_H

#include "convolution.h"
#include "layout.h"
#include "pointwise.h"
#include "trunk.h"

namespace driftscope {

// Floats is a block of zeroed floats on a cache line, as oneDNN likes its tensors.
class Floats {
public:
	explicit Floats(size_t size = 0);
	Floats(Floats &&other) noexcept;
	Floats &operator=(Floats &&other) noexcept;
	~Floats();
	float *data() const { return data_; }

private:
	float *data_ = nullptr;
};

class Block {
public:
	// The block's output is folded by fold, as the next one reads it (0: as suits this block, which is then the last).
	Block(const trunk_stage &stage, int fold, int block, int batch);

	// input_fold is how a block wants its input folded.
	static int input_fold(const trunk_stage &stage);

	const Map &src() const { return src_; }
	const Map &mid() const { return mid_; }
	const Map &dst() const { return dst_; }
	const float *output() const { return a_.data(); }
	Convolution convolution(const dnnl::engine &engine, int n) const { return {engine, n, src_, mid_, weights_.taps()}; }

	// forward reads x (src) and writes output (dst). With training set it measures the moments, else it uses those given.
	void forward(Convolution &conv, dnnl::stream &stream, const float *x, const float *theta, float *moments, bool training, int n);

	// backward turns da (dst; overwritten) into the gradients by theta and, if wanted, by x. The latter is left in da or in spare, whichever is returned.
	float *backward(Convolution &conv, dnnl::stream &stream, const float *x, float *da, float *spare, float *dtheta, bool wanted, int n);

private:
	// plain: nothing between convolution and output but, perhaps, the logistic function, which works in place.
	bool plain() const { return !stage_.norm && !stage_.leaky && !stage_.pool && mid_.f == dst_.f; }
	Point point() const;
	void measure(float *moments, int n);
	void prepare(const float *theta, const float *moments);
	void normalise_gradient(float *du, float *dtheta, int n);

	trunk_stage stage_;
	Map src_, mid_, dst_;
	Weights weights_;
	Floats z_, a_;                                      // convolved (unused where plain) and output
	std::vector<float> partial_;                        // sums by picture
	std::vector<float> gamma_, scale_, shift_, rise_, fall_; // by channel, of the last forward
	std::vector<float> by_g_, by_z_, constant_;         // by folded channel, for combine
};

} // namespace driftscope

#endif
