#pragma once
// Atomic operations on 16, 32 and 64 bits, in shared and in global memory. They are ordered with each other and with
// nothing else; a fence or a barrier orders the rest.

template <unsigned long Bytes>
struct kw_sim_word;
template <>
struct kw_sim_word<2> {
  typedef unsigned short type;
};
template <>
struct kw_sim_word<4> {
  typedef unsigned type;
};
template <>
struct kw_sim_word<8> {
  typedef unsigned long long type;
};

/// Replaces *address by change(*address); gives what was there.
template <typename T, typename Change>
KW_INLINE T kw_sim_update(T* address, int line, Change change) {
  typedef typename kw_sim_word<sizeof(T)>::type Word;
  kw_sim_access(address, sizeof(T), kw_sim::k_write | kw_sim::k_atomic, line);
  Word seen = static_cast<Word>(kw_sim_compare_exchange(address, sizeof(T), 0, 0));
  while (true) {
    const T old = __builtin_bit_cast(T, seen);
    const T updated = change(old);
    const Word found = static_cast<Word>(
        kw_sim_compare_exchange(address, sizeof(T), seen, __builtin_bit_cast(Word, updated)));
    if (found == seen) return old;
    seen = found;
  }
}

#define KW_ATOMICS(T)                                                                                                 \
  KW_INLINE T atomicAdd(T* p, T v, KW_LINE) { return kw_sim_update(p, kw_line, [&](T o) { return static_cast<T>(o + v); }); }      \
  KW_INLINE T atomicExch(T* p, T v, KW_LINE) { return kw_sim_update(p, kw_line, [&](T) { return v; }); }
#define KW_INTEGER_ATOMICS(T)                                                                                         \
  KW_ATOMICS(T)                                                                                                       \
  KW_INLINE T atomicSub(T* p, T v, KW_LINE) { return kw_sim_update(p, kw_line, [&](T o) { return static_cast<T>(o - v); }); }      \
  KW_INLINE T atomicMin(T* p, T v, KW_LINE) { return kw_sim_update(p, kw_line, [&](T o) { return v < o ? v : o; }); } \
  KW_INLINE T atomicMax(T* p, T v, KW_LINE) { return kw_sim_update(p, kw_line, [&](T o) { return o < v ? v : o; }); } \
  KW_INLINE T atomicAnd(T* p, T v, KW_LINE) { return kw_sim_update(p, kw_line, [&](T o) { return static_cast<T>(o & v); }); }      \
  KW_INLINE T atomicOr(T* p, T v, KW_LINE) { return kw_sim_update(p, kw_line, [&](T o) { return static_cast<T>(o | v); }); }       \
  KW_INLINE T atomicXor(T* p, T v, KW_LINE) { return kw_sim_update(p, kw_line, [&](T o) { return static_cast<T>(o ^ v); }); }      \
  KW_INLINE T atomicCAS(T* p, T expected, T v, KW_LINE) {                                                             \
    return kw_sim_update(p, kw_line, [&](T o) { return o == expected ? v : o; });                                     \
  }
KW_INTEGER_ATOMICS(int)
KW_INTEGER_ATOMICS(unsigned)
KW_INTEGER_ATOMICS(long long)
KW_INTEGER_ATOMICS(unsigned long long)
KW_ATOMICS(float)
KW_ATOMICS(double)
#undef KW_INTEGER_ATOMICS
#undef KW_ATOMICS
KW_INLINE unsigned short atomicCAS(unsigned short* p, unsigned short expected, unsigned short v, KW_LINE) {
  return kw_sim_update(p, kw_line, [&](unsigned short o) { return o == expected ? v : o; });
}
KW_INLINE unsigned atomicInc(unsigned* p, unsigned limit, KW_LINE) {
  return kw_sim_update(p, kw_line, [&](unsigned o) { return o >= limit ? 0u : o + 1u; });
}
KW_INLINE unsigned atomicDec(unsigned* p, unsigned limit, KW_LINE) {
  return kw_sim_update(p, kw_line, [&](unsigned o) { return o == 0 || o > limit ? limit : o - 1u; });
}
KW_INLINE half atomicAdd(half* p, half v, KW_LINE) {
  return kw_sim_update(p, kw_line, [&](half o) { return o + v; });
}
KW_INLINE nv_bfloat16 atomicAdd(nv_bfloat16* p, nv_bfloat16 v, KW_LINE) {
  return kw_sim_update(p, kw_line, [&](nv_bfloat16 o) { return o + v; });
}
KW_INLINE nv_bfloat162 atomicAdd(nv_bfloat162* p, nv_bfloat162 v, KW_LINE) {
  return {atomicAdd(&p->x, v.x, kw_line), atomicAdd(&p->y, v.y, kw_line)};
}
KW_INLINE half2 atomicAdd(half2* p, half2 v, KW_LINE) {
  return {atomicAdd(&p->x, v.x, kw_line), atomicAdd(&p->y, v.y, kw_line)};
}

KW_INLINE void __threadfence(KW_LINE) { kw_sim_fence(kw_line); }
KW_INLINE void __threadfence_system(KW_LINE) { kw_sim_fence(kw_line); }
KW_INLINE void __threadfence_block() {}
