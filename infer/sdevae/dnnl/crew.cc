//go:build !nodnnl

#include "crew.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <omp.h>

namespace driftscope {
namespace {

class Crew {
public:
	Crew() { std::thread([this] { serve(); }).detach(); }

	void run(int threads, const std::function<void()> &work) {
		std::lock_guard<std::mutex> turn(turn_);
		std::unique_lock<std::mutex> lock(mutex_);
		threads_ = threads;
		work_ = &work;
		changed_.notify_all();
		changed_.wait(lock, [this] { return work_ == nullptr; });
		if (std::exception_ptr failure = std::exchange(failure_, nullptr))
			std::rethrow_exception(failure);
	}

private:
	void serve() {
		const int usual = omp_get_max_threads();
		std::unique_lock<std::mutex> lock(mutex_);
		for (;;) {
			changed_.wait(lock, [this] { return work_ != nullptr; });
			omp_set_num_threads(threads_ > 0 ? threads_ : usual);
			try {
				(*work_)();
			} catch (...) {
				failure_ = std::current_exception();
			}
			work_ = nullptr;
			changed_.notify_all();
		}
	}

	std::mutex turn_, mutex_;
	std::condition_variable changed_;
	const std::function<void()> *work_ = nullptr;
	std::exception_ptr failure_;
	int threads_ = 0;
};

} // namespace

void on_crew(int threads, const std::function<void()> &work) {
	static Crew *crew = new Crew; // lives as long as the process, like libgomp's workers
	crew->run(threads, work);
}

} // namespace driftscope
