#pragma once
// Loads and stores with a cache hint, plain copies, and what a kernel may say to the outside.

#define KW_LOAD(NAME)                                                \
  template <typename T>                                              \
  KW_INLINE T NAME(const T* address, KW_LINE) {                      \
    kw_sim_access(address, sizeof(T), 0, kw_line);                   \
    return kw_sim_peek(address);                                     \
  }
#define KW_STORE(NAME)                                               \
  template <typename T>                                              \
  KW_INLINE void NAME(T* address, T value, KW_LINE) {                \
    kw_sim_access(address, sizeof(T), kw_sim::k_write, kw_line);     \
    kw_sim_poke(address, value);                                     \
  }
/// Without instrumentation, because the access was announced with the line of the call.
template <typename T>
__attribute__((noinline, no_sanitize("thread"))) static T kw_sim_peek(const T* address) {
  return *address;
}
template <typename T>
__attribute__((noinline, no_sanitize("thread"))) static void kw_sim_poke(T* address, T value) {
  *address = value;
}
KW_LOAD(__ldg)
KW_LOAD(__ldca)
KW_LOAD(__ldcg)
KW_LOAD(__ldcs)
KW_LOAD(__ldlu)
KW_LOAD(__ldcv)
KW_STORE(__stwb)
KW_STORE(__stcg)
KW_STORE(__stcs)
KW_STORE(__stwt)
#undef KW_LOAD
#undef KW_STORE

KW_INLINE void* kw_sim_copy(void* to, const void* from, size_t bytes, int line) {
  kw_sim_access(from, bytes, 0, line);
  kw_sim_access(to, bytes, kw_sim::k_write, line);
  return __builtin_memcpy(to, from, bytes);
}
KW_INLINE void* kw_sim_fill(void* to, int value, size_t bytes, int line) {
  kw_sim_access(to, bytes, kw_sim::k_write, line);
  return __builtin_memset(to, value, bytes);
}
#define memcpy(to, from, bytes) kw_sim_copy(to, from, bytes, __LINE__)
#define memset(to, value, bytes) kw_sim_fill(to, value, bytes, __LINE__)

KW_INLINE size_t __cvta_generic_to_shared(const void* address) { return reinterpret_cast<size_t>(address); }
KW_INLINE size_t __cvta_generic_to_global(const void* address) { return reinterpret_cast<size_t>(address); }

/// Time does not pass.
KW_INLINE long long clock64() { return 0; }
KW_INLINE int clock() { return 0; }
KW_INLINE void __nanosleep(unsigned, KW_LINE) { kw_sim_pause(kw_line); }
/// A kernel's words are not read by anybody.
template <typename... T>
KW_INLINE int printf(const char*, T...) {
  return 0;
}
#define assert(condition) ((condition) ? (void)0 : kw_sim_stop("the assertion " #condition " does not hold", __LINE__))
#define __trap() kw_sim_stop("the kernel calls __trap()", __LINE__)
#define __builtin_assume(condition) ((void)0)
#define __builtin_unreachable() kw_sim_stop("the kernel reaches __builtin_unreachable()", __LINE__)
