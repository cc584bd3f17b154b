// Where the values of a picture lie in memory, and how a convolution's weights follow when pictures are folded.
#ifndef DRIFTSCOPE_LAYOUT_H
#define DRIFTSCOPE_LAYOUT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace driftscope {

// Map is a picture of c channels on h x w, folded by f (1, 2 or 4; f divides both sides) and stored as oneDNN's nChw8c or nChw16c:
// channel (f (y mod f) + x mod f) c + k of the folded picture holds channel k of the picture. Channels beyond f f c are padding.
struct Map {
	int c, h, w, f, block;

	int channels() const { return (c * f * f + block - 1) / block * block; }
	int rows() const { return h / f; }
	int cols() const { return w / f; }
	bool padded() const { return c * f * f % block != 0; }
	size_t size() const { return size_t(channels()) * rows() * cols(); }

	// at is the offset of channel k of pixel (y, x). A step of f in x moves it by block.
	size_t at(int y, int x, int k) const {
		int folded = (y % f * f + x % f) * c + k;
		return ((size_t(folded / block) * rows() + y / f) * cols() + x / f) * block + folded % block;
	}
};

// Weights carries the weights of a kernel x kernel convolution from src (upsampled first when upsample is 2) to dst
// over to the convolution of the folded maps, taps x taps wide, and gradients back.
class Weights {
public:
	Weights(const Map &src, const Map &dst, int kernel, int upsample);

	int taps() const { return taps_; }
	const float *folded() const { return folded_.data(); }
	const float *bias() const { return bias_.data(); }
	float *gradient() { return gradient_.data(); }
	float *bias_gradient() { return bias_gradient_.data(); }

	// fold reads weights (OIHW) and bias; unfold writes their gradients from gradient() and, unless db is null, bias_gradient().
	void fold(const float *w, const float *b);
	void unfold(float *dw, float *db) const;

private:
	int outputs_, phases_, taps_;
	std::vector<int32_t> place_; // for every weight in order, its positions in the folded weights, phases_ of them
	std::vector<float> folded_, gradient_, bias_, bias_gradient_;
};

} // namespace driftscope

#endif
