package frame

/*
#include <malloc.h>

// keep makes the allocator cache freed memory, up to the given sizes in bytes. Other C libraries decide for themselves.
static void keep(int block, int total, int arenas) {
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, arenas);
	mallopt(M_MMAP_THRESHOLD, block);
	mallopt(M_TRIM_THRESHOLD, total);
#endif
}
*/
import "C"

// Limits on freed pictures that the C library caches: blocks of up to keptBlock bytes (the largest possible value), and keptTotal bytes per arena.
const (
	keptBlock = 32 << 20
	keptTotal = 256 << 20
	arenas    = 4 // instead of eight per core, each with its own cached pictures
)

// KeepMemory makes the C library reuse the memory of closed pictures, in the whole process. Otherwise the library returns the memory of large pictures to the
// system, which clears every page of the next picture. That takes a fifth of the time of a 16-bit frame of 1024x1024.
func KeepMemory() { C.keep(keptBlock, keptTotal, arenas) }
