// The one thread that calls oneDNN. libgomp keeps a team of workers for every thread that starts a parallel region,
// and Go moves goroutines between threads, so calls made from wherever they come would breed teams.
#ifndef DRIFTSCOPE_CREW_H
#define DRIFTSCOPE_CREW_H

#include <functional>

namespace driftscope {

// on_crew runs work on that thread with the given number of OpenMP threads (0: OpenMP's default) and returns when it is done.
// What work throws is thrown on to the caller. Calls from several threads take turns.
void on_crew(int threads, const std::function<void()> &work);

} // namespace driftscope

#endif
