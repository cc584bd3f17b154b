/* What the kernels here share. */
#ifndef DRIFTSCOPE_PREPROCESS_WIDE_H
#define DRIFTSCOPE_PREPROCESS_WIDE_H

/* Loops over pixels are compiled for wider vectors too, which are taken where the processor has them. They are C and not C++, because the
   standard's C never contracts a multiplication and an addition into one: all vectors give the same. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDE
#endif

static inline int most(int a, int b) { return a > b ? a : b; }
static inline int least(int a, int b) { return a < b ? a : b; }

#endif
