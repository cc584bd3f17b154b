//go:build !nodnnl

#include "pointwise.h"

#include <algorithm>
#include <cstring>

// Compiled for three generations of x86 and chosen at start; elsewhere the compiler's default is right.
#if defined(__x86_64__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif
#define INLINE inline __attribute__((always_inline))

namespace driftscope {
namespace {

// A group of channels that lie side by side: 16, 8 or 1.
typedef float v16 __attribute__((vector_size(64)));
typedef float v8 __attribute__((vector_size(32)));

template <class V> INLINE V get(const float *p) {
	V v;
	std::memcpy(&v, p, sizeof v);
	return v;
}
template <class V> INLINE void put(float *p, V v) { std::memcpy(p, &v, sizeof v); }
template <class V> INLINE V leak(V u, V d, float slope) { return u > V{} ? d : slope * d; }

int group(int channels, int block) { return channels % 16 == 0 && block == 16 ? 16 : channels % 8 == 0 ? 8 : 1; }

// Walk steps along row y of the narrower of two maps: period pixels at a time, beginning with pixel x.
struct Walk {
	int period, count;
	size_t step_src, step_dst;
	Walk(const Map &src, const Map &dst, bool pool) {
		period = pool ? std::max(dst.f, src.f / 2) : std::max(dst.f, src.f);
		count = dst.w / period;
		step_src = size_t(pool ? 2 : 1) * period / src.f * src.block;
		step_dst = size_t(period) / dst.f * dst.block;
	}
};

template <class V> INLINE void activate_picture(float *a, const float *z, const Point &p) {
	const int width = sizeof(V) / sizeof(float);
	const Walk walk(p.src, p.dst, p.pool);
	for (int y = 0; y < p.dst.h; y++)
		for (int k = 0; k < p.src.c; k += width) {
			const V scale = get<V>(p.scale + k), shift = get<V>(p.shift + k);
			for (int x = 0; x < walk.period; x++) {
				float *to = a + p.dst.at(y, x, k);
				if (!p.pool) {
					const float *from = z + p.src.at(y, x, k);
					for (int t = 0; t < walk.count; t++, from += walk.step_src, to += walk.step_dst) {
						V u = get<V>(from) * scale + shift;
						put<V>(to, leak<V>(u, u, p.slope));
					}
					continue;
				}
				const float *z0 = z + p.src.at(2 * y, 2 * x, k), *z1 = z + p.src.at(2 * y, 2 * x + 1, k);
				const float *z2 = z + p.src.at(2 * y + 1, 2 * x, k), *z3 = z + p.src.at(2 * y + 1, 2 * x + 1, k);
				for (size_t t = 0, i = 0; t < size_t(walk.count); t++, i += walk.step_src, to += walk.step_dst) {
					V u = get<V>(z0 + i) * scale + shift, v = get<V>(z1 + i) * scale + shift;
					u = v > u ? v : u;
					v = get<V>(z2 + i) * scale + shift;
					u = v > u ? v : u;
					v = get<V>(z3 + i) * scale + shift;
					u = v > u ? v : u;
					put<V>(to, leak<V>(u, u, p.slope));
				}
			}
		}
}

// pass gives what is left of d to u's owner if u is the maximum m (the first one, where several are equal) and clears d.
template <class V> INLINE V pass(V u, V m, V &d) {
	V g = u == m ? d : V{};
	d = u == m ? V{} : d;
	return g;
}

template <class V> INLINE void differentiate_picture(float *du, float *partial, const float *da, const float *z, const Point &p) {
	const int width = sizeof(V) / sizeof(float);
	const Walk walk(p.src, p.dst, p.pool);
	std::memset(partial, 0, 2 * size_t(p.src.c) * sizeof(float));
	for (int y = 0; y < p.dst.h; y++)
		for (int k = 0; k < p.src.c; k += width) {
			const V scale = get<V>(p.scale + k), shift = get<V>(p.shift + k);
			const V rise = get<V>(p.rise + k), fall = get<V>(p.fall + k);
			V sum{}, product{};
			for (int x = 0; x < walk.period; x++) {
				const float *from = da + p.dst.at(y, x, k);
				if (!p.pool) {
					const size_t at = p.src.at(y, x, k);
					for (size_t t = 0, i = at; t < size_t(walk.count); t++, i += walk.step_src, from += walk.step_dst) {
						V v = get<V>(z + i);
						V g = leak<V>(v * scale + shift, get<V>(from), p.slope);
						put<V>(du + i, g);
						sum += g;
						product += g * (v * rise + fall);
					}
					continue;
				}
				const size_t i0 = p.src.at(2 * y, 2 * x, k), i1 = p.src.at(2 * y, 2 * x + 1, k);
				const size_t i2 = p.src.at(2 * y + 1, 2 * x, k), i3 = p.src.at(2 * y + 1, 2 * x + 1, k);
				for (size_t t = 0, i = 0; t < size_t(walk.count); t++, i += walk.step_src, from += walk.step_dst) {
					const V a = get<V>(z + i0 + i), b = get<V>(z + i1 + i), c = get<V>(z + i2 + i), e = get<V>(z + i3 + i);
					const V ua = a * scale + shift, ub = b * scale + shift, uc = c * scale + shift, ue = e * scale + shift;
					V m = ub > ua ? ub : ua;
					m = uc > m ? uc : m;
					m = ue > m ? ue : m;
					V d = leak<V>(m, get<V>(from), p.slope);
					sum += d;
					V g = pass<V>(ua, m, d), weighted = g * a;
					put<V>(du + i0 + i, g);
					g = pass<V>(ub, m, d), weighted += g * b;
					put<V>(du + i1 + i, g);
					g = pass<V>(uc, m, d), weighted += g * c;
					put<V>(du + i2 + i, g);
					g = pass<V>(ue, m, d), weighted += g * e;
					put<V>(du + i3 + i, g);
					product += weighted;
				}
			}
			if (p.pool)
				product = product * rise + sum * fall;
			put<V>(partial + k, get<V>(partial + k) + sum);
			put<V>(partial + p.src.c + k, get<V>(partial + p.src.c + k) + product);
		}
}

template <class V> INLINE void moments_picture(float *partial, const float *z, const Map &m) {
	const int width = sizeof(V) / sizeof(float), cells = m.rows() * m.cols();
	for (int k = 0; k < m.c; k += width) {
		V mean{}, spread{};
		for (int q = 0; q < m.f * m.f; q++) {
			const float *p = z + m.at(q / m.f, q % m.f, k);
			V even{}, odd{};
			int i = 0;
			for (; i + 1 < cells; i += 2) {
				even += get<V>(p + size_t(i) * m.block);
				odd += get<V>(p + size_t(i + 1) * m.block);
			}
			if (i < cells)
				even += get<V>(p + size_t(i) * m.block);
			mean += even + odd;
		}
		mean *= 1.0f / (float(cells) * m.f * m.f);
		for (int q = 0; q < m.f * m.f; q++) {
			const float *p = z + m.at(q / m.f, q % m.f, k);
			V sum{};
			for (int i = 0; i < cells; i++) {
				V d = get<V>(p + size_t(i) * m.block) - mean;
				sum += d * d;
			}
			spread += sum;
		}
		put<V>(partial + k, mean);
		put<V>(partial + m.c + k, spread);
	}
}

// One function a group width, each compiled for every generation: the attribute does not reach into templates or parallel regions.
WIDE void activate16(float *a, const float *z, const Point &p) { activate_picture<v16>(a, z, p); }
WIDE void activate8(float *a, const float *z, const Point &p) { activate_picture<v8>(a, z, p); }
WIDE void activate1(float *a, const float *z, const Point &p) { activate_picture<float>(a, z, p); }
WIDE void differentiate16(float *du, float *s, const float *da, const float *z, const Point &p) { differentiate_picture<v16>(du, s, da, z, p); }
WIDE void differentiate8(float *du, float *s, const float *da, const float *z, const Point &p) { differentiate_picture<v8>(du, s, da, z, p); }
WIDE void differentiate1(float *du, float *s, const float *da, const float *z, const Point &p) { differentiate_picture<float>(du, s, da, z, p); }
WIDE void moments16(float *s, const float *z, const Map &m) { moments_picture<v16>(s, z, m); }
WIDE void moments8(float *s, const float *z, const Map &m) { moments_picture<v8>(s, z, m); }
WIDE void moments1(float *s, const float *z, const Map &m) { moments_picture<float>(s, z, m); }

WIDE void combine_picture(float *g, const float *z, const float *a, const float *b, const float *c, const Map &m) {
	const int cells = m.rows() * m.cols();
	for (int k = 0; k < m.channels(); k += 8) {
		const v8 va = get<v8>(a + k), vb = get<v8>(b + k), vc = get<v8>(c + k);
		size_t at = size_t(k / m.block) * cells * m.block + k % m.block;
		for (int i = 0; i < cells; i++, at += m.block)
			put<v8>(g + at, get<v8>(g + at) * va + get<v8>(z + at) * vb + vc);
	}
}

// The logistic function with exp(-x) = 2^k exp(r), |r| <= ln(2)/2, exp(r) by its Taylor polynomial of degree 6: relative error below 2e-7.
WIDE void squash_picture(float *y, size_t size) {
	for (size_t i = 0; i < size; i++) {
		float x = std::min(std::max(-y[i], -87.0f), 87.0f);
		float shifted = x * 1.44269504f + 12582912.0f; // 1.5 2^23: rounds, and leaves k in the low bits
		float k = shifted - 12582912.0f;
		float r = x - k * 0.693359375f + k * 2.12194440e-4f;
		float e = 1 + r * (1 + r * (0.5f + r * (1.6666667e-1f + r * (4.1666668e-2f + r * (8.3333333e-3f + r * 1.3888889e-3f)))));
		int32_t bits, power;
		std::memcpy(&bits, &e, 4);
		std::memcpy(&power, &shifted, 4);
		bits += power << 23;
		std::memcpy(&e, &bits, 4);
		y[i] = 1 / (1 + e);
	}
}

WIDE void unsquash_picture(float *g, const float *y, size_t size) {
	for (size_t i = 0; i < size; i++)
		g[i] *= y[i] * (1 - y[i]);
}

} // namespace

void load(float *folded, const Map &m, const float *nchw, int n) {
	const size_t plane = size_t(m.h) * m.w;
#pragma omp parallel for
	for (int i = 0; i < n; i++) {
		float *to = folded + i * m.size();
		if (m.padded())
			std::memset(to, 0, m.size() * sizeof(float));
		for (int k = 0; k < m.c; k++)
			for (int y = 0; y < m.h; y++)
				for (int x = 0; x < m.f; x++) {
					const float *row = nchw + (size_t(i) * m.c + k) * plane + size_t(y) * m.w + x;
					float *p = to + m.at(y, x, k);
					for (int t = 0; t < m.cols(); t++, p += m.block, row += m.f)
						*p = *row;
				}
	}
}

void store(float *nchw, const float *folded, const Map &m, int n) {
	const size_t plane = size_t(m.h) * m.w;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		for (int k = 0; k < m.c; k++)
			for (int y = 0; y < m.h; y++)
				for (int x = 0; x < m.f; x++) {
					float *row = nchw + (size_t(i) * m.c + k) * plane + size_t(y) * m.w + x;
					const float *p = folded + i * m.size() + m.at(y, x, k);
					for (int t = 0; t < m.cols(); t++, p += m.block, row += m.f)
						*row = *p;
				}
}

void moments(float *partial, const float *z, const Map &m, int n) {
	const int width = group(m.c, m.block);
	auto picture = width == 16 ? moments16 : width == 8 ? moments8 : moments1;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		picture(partial + size_t(i) * 2 * m.c, z + i * m.size(), m);
}

void activate(float *a, const float *z, const Point &p, int n) {
	const int width = group(p.src.c, p.src.block);
	auto picture = width == 16 ? activate16 : width == 8 ? activate8 : activate1;
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		picture(a + i * p.dst.size(), z + i * p.src.size(), p);
}

void differentiate(float *du, float *partial, const float *da, const float *z, const Point &p, int n) {
	const int width = group(p.src.c, p.src.block);
	auto picture = width == 16 ? differentiate16 : width == 8 ? differentiate8 : differentiate1;
#pragma omp parallel for
	for (int i = 0; i < n; i++) {
		float *to = du + i * p.src.size();
		if (p.src.padded())
			std::memset(to, 0, p.src.size() * sizeof(float));
		picture(to, partial + size_t(i) * 2 * p.src.c, da + i * p.dst.size(), z + i * p.src.size(), p);
	}
}

void combine(float *g, const float *z, const float *a, const float *b, const float *c, const Map &m, int n) {
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		combine_picture(g + i * m.size(), z + i * m.size(), a, b, c, m);
}

void squash(float *y, const Map &m, int n) {
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		squash_picture(y + i * m.size(), m.size());
}

void unsquash(float *g, const float *y, const Map &m, int n) {
#pragma omp parallel for
	for (int i = 0; i < n; i++)
		unsquash_picture(g + i * m.size(), y + i * m.size(), m.size());
}

} // namespace driftscope
