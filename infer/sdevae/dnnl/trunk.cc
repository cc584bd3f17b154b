//go:build !nodnnl

#include "trunk.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "block.h"
#include "crew.h"

using namespace driftscope;

namespace {

// Primitives are compiled for one number of pictures; this many such sets are kept, the longest unused is dropped.
const size_t kept = 4;

struct Plan {
	int n;
	std::vector<Convolution> convolutions; // one a block
};

// lane_count is the number of channels that oneDNN's convolutions group on this machine.
int lane_count() { return dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core ? 16 : 8; }

} // namespace

struct trunk {
	trunk(const trunk_stage *stages, int count, int batch)
		: engine(dnnl::engine::kind::cpu, 0), stream(engine) {
		const int lanes = lane_count();
		size_t widest = 0;
		for (int i = 0; i < count; i++) {
			int fold = i + 1 < count ? Block::input_fold(stages[i + 1]) : 0;
			blocks.emplace_back(stages[i], fold, lanes, batch);
			const Block &b = blocks.back();
			widest = std::max({widest, b.src().size(), b.mid().size(), b.dst().size()});
		}
		x = Floats(blocks.front().src().size() * batch);
		gradient = Floats(widest * batch);
		spare = Floats(widest * batch);
		plan(batch);
	}

	// plan finds or compiles the primitives for n pictures.
	Plan &plan(int n) {
		for (auto p = plans.begin(); p != plans.end(); ++p)
			if (p->n == n) {
				plans.splice(plans.begin(), plans, p);
				return plans.front();
			}
		Plan fresh{n, {}};
		for (const Block &b : blocks)
			fresh.convolutions.push_back(b.convolution(engine, n));
		if (plans.size() == kept)
			plans.pop_back();
		plans.push_front(std::move(fresh));
		return plans.front();
	}

	void forward(float *y, const float *pictures, const float *theta, float *moments, bool training, int n) {
		Plan &p = plan(n);
		load(x.data(), blocks.front().src(), pictures, n);
		const float *a = x.data();
		for (size_t i = 0; i < blocks.size(); i++) {
			blocks[i].forward(p.convolutions[i], stream, a, theta, moments, training, n);
			a = blocks[i].output();
		}
		store(y, a, blocks.back().dst(), n);
	}

	void backward(float *dx, float *dtheta, const float *dy, int n) {
		Plan &p = plan(n);
		float *g = gradient.data(), *free = spare.data();
		load(g, blocks.back().dst(), dy, n);
		for (size_t i = blocks.size(); i-- > 0;) {
			const float *a = i > 0 ? blocks[i - 1].output() : x.data();
			float *next = blocks[i].backward(p.convolutions[i], stream, a, g, free, dtheta, i > 0 || dx != nullptr, n);
			if (next != g)
				std::swap(g, free);
		}
		if (dx != nullptr)
			store(dx, g, blocks.front().src(), n);
	}

	int threads = 0;
	dnnl::engine engine;
	dnnl::stream stream;
	std::vector<Block> blocks;
	std::list<Plan> plans; // the last used first
	Floats x, gradient, spare;
	std::string error;
};

namespace {

// attempt runs work on the crew and turns what it throws into text.
template <class Work> int attempt(trunk *t, Work work) {
	try {
		on_crew(t->threads, work);
		return 0;
	} catch (const std::exception &e) {
		t->error = e.what();
	} catch (...) {
		t->error = "an unknown failure";
	}
	return 1;
}

} // namespace

trunk *trunk_new(const trunk_stage *stages, int count, int batch, char *message, size_t size) {
	trunk *t = nullptr;
	try {
		on_crew(0, [&] { t = new trunk(stages, count, batch); });
	} catch (const std::exception &e) {
		std::snprintf(message, size, "%s", e.what());
	} catch (...) {
		std::snprintf(message, size, "an unknown failure");
	}
	return t;
}

void trunk_set_threads(trunk *t, int threads) {
	t->threads = threads;
	t->plans.clear(); // primitives are compiled for a number of threads
}

void trunk_free(trunk *t) {
	try {
		on_crew(t->threads, [&] { delete t; });
	} catch (...) { // a destructor threw: nothing is left to do for the caller
	}
}

int trunk_forward(trunk *t, float *y, const float *x, const float *theta, float *moments, int n) {
	return attempt(t, [&] { t->forward(y, x, theta, moments, true, n); });
}

int trunk_infer(trunk *t, float *y, const float *x, const float *theta, const float *moments, int n) {
	return attempt(t, [&] { t->forward(y, x, theta, const_cast<float *>(moments), false, n); });
}

int trunk_backward(trunk *t, float *dx, float *dtheta, const float *dy, int n) {
	return attempt(t, [&] { t->backward(dx, dtheta, dy, n); });
}

const char *trunk_error(const trunk *t) { return t->error.c_str(); }
