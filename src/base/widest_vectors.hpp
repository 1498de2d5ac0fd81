#pragma once
// One binary for every x86 machine, yet a hot loop that is marked so uses the widest vectors there are: the compiler
// makes it several times, and the loader chooses. Not under sanitizers, whose start-up and that choice do not get
// along. Products and sums may be fused where the processor can: the last bit of a result depends on the machine.

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(KW_SANITIZED)
#define KW_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define KW_WIDEST_VECTORS
#endif
