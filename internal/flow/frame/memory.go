package frame

/*
#include <malloc.h>

// keep has the allocator hold on to what is freed, up to the given sizes in bytes. Other C libraries decide for themselves.
static void keep(int block, int total, int arenas) {
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, arenas);
	mallopt(M_MMAP_THRESHOLD, block);
	mallopt(M_TRIM_THRESHOLD, total);
#endif
}
*/
import "C"

// Limits on freed pictures that the C library caches: blocks of up to keptBlock bytes, its maximum, and keptTotal in all per arena.
const (
	keptBlock = 32 << 20
	keptTotal = 256 << 20
	arenas    = 4 // instead of eight per core, each of which would keep pictures of its own
)

// KeepMemory keeps the memory of closed pictures for the next ones, in the whole process. Without it the C library returns the memory of large pictures to the
// system, which clears every page of the next one: a fifth of the time of a frame of 1024x1024 in 16 bits.
func KeepMemory() { C.keep(keptBlock, keptTotal, arenas) }
