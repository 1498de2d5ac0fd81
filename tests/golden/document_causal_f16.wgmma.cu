/*kernelwright
format      = 1
target      = "cuda"
problem     = "attention/document_causal_f16"
generator   = "wgmma 4"
constraints = ["2 * ((16 * (4 * WARPGROUPS)) * round_up(64, 64) + STAGES * BLOCK_N * (round_up(64, 64) + round_up(64, 64))) + 1024 + 8 * (16 * (4 * WARPGROUPS)) + 16 <= shared_bytes_per_block",
               "round_up(64, 64) / 2 + BLOCK_N * 3 / 4 + 40 + 16 * (round_up(64, 64) > 64) <= min(max_registers_per_thread, registers_per_block / (32 * (4 * WARPGROUPS)))",
               "PINGPONG == 0 || WARPGROUPS == 2",
               "round_up(64, 64) / 2 + BLOCK_N * 3 / 4 + 40 + 16 * (round_up(64, 64) > 64) <= registers_per_block / (32 * (4 * WARPGROUPS) * RESIDENT)"]

[tunables]
WARPGROUPS = {values = [1, 2, 3], default = 1}
BLOCK_N    = {values = [64, 128, 192], default = 64}
STAGES     = {values = [2, 3, 4], default = 4}
PINGPONG   = {values = [0, 1], default = 0}
RESIDENT   = {values = [1, 2, 3, 4], default = 1}

[defines]
HEAD_DIM     = "D"
VALUE_DIM    = "Dv"
BLOCK_WARPS  = "(4 * WARPGROUPS)"
PANEL_KEYS   = "BLOCK_N"
HEAD_PAD     = "round_up(D, 64)"
HEAD_STRIDE  = "round_up(D, 64)"
VALUE_PAD    = "round_up(Dv, 64)"
VALUE_STRIDE = "round_up(Dv, 64)"

[[launch]]
kernel       = "attention"
grid         = ["ceil_div(Sq, (16 * (4 * WARPGROUPS)))", "Hq", "B"]
block        = ["32 * (4 * WARPGROUPS)", "1", "1"]
shared_bytes = "2 * ((16 * (4 * WARPGROUPS)) * round_up(D, 64) + STAGES * BLOCK_N * (round_up(D, 64) + round_up(Dv, 64))) + 1024"
args         = ["Q", "K", "V", "document_id", "O", "Sq", "Skv", "Hq", "Hkv"]
*/
// attention/document_causal_f16: Causal attention within packed documents, stored in f16.
// Written by kernelwright, generator "wgmma 4".
//
// mask_mod:
// def document_causal(b, h, q_idx, kv_idx):
//     same_document = document_id[q_idx] == document_id[kv_idx]
//     q_logical = q_idx - offsets[document_id[q_idx]]
//     kv_logical = kv_idx - offsets[document_id[kv_idx]]
//     return same_document & (q_logical >= kv_logical)
//
// How: a warpgroup takes 64 queries through the keys in panels of BN, with wgmma; scores and probabilities stay in
// registers, and keys and values are copied STAGES - 1 panels ahead of their use. Keys are multiplied one
// panel ahead of values; with PINGPONG one of a block's two warpgroups multiplies while the other does its softmax.
// The mask allows an interval of keys per row: blocks outside it are never touched, and only
// the interval's ends are masked.

#include <cuda_fp16.h>

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#define THREADS (32 * BLOCK_WARPS)
#define BM (16 * BLOCK_WARPS)
#define BN PANEL_KEYS
#define THREAD_ROWS 2
#define THREAD_KEYS (BN / 4)
#define ROW_STEP 8
#define ROW_LANES 4
// Accumulators of an instruction: rows of 8 lanes' groups of four, and 8 below; keys two by two.
#define SCORE(r, c) scores[(c) / 2][2 * (r) + (c) % 2]
#define SCORE_TILES (BN / 8)
#define VALUE_TILES (VALUE_PAD / 8)
// Elements of 16 bytes, which is what one lane copies at a time.
#define CHUNK (16 / (int)sizeof(__half))

#define LOG2_E 1.44269504f
#define ALL_LANES 0xffffffffu

// How many elements of a sorted row are less than a value.
__device__ __forceinline__ int lower_bound_i32(const int* row, const int extent, const int value) {
  int low = 0, high = extent;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (row[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
// How many elements of a sorted row are at most a value.
__device__ __forceinline__ int upper_bound_i32(const int* row, const int extent, const int value) {
  int low = 0, high = extent;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (row[middle] <= value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The mask allows exactly the keys from first_allowed to last_allowed; none if first is after last.
__device__ __forceinline__ int first_allowed(const int b, const int h, const int q_idx,
                                             const int* __restrict__ document_id, const int Skv) {
  const int t1 = lower_bound_i32(document_id, Skv, document_id[min(q_idx, Skv - 1)]);
  return max(t1, 0);
}
__device__ __forceinline__ int last_allowed(const int b, const int h, const int q_idx,
                                            const int* __restrict__ document_id, const int Skv) {
  const int t1 = upper_bound_i32(document_id, Skv, document_id[min(q_idx, Skv - 1)]);
  return min(q_idx, min(t1 - 1, Skv - 1));
}

// 2^x within two units of the last place; exactly 0 for -inf, so that masked scores count for nothing.
__device__ __forceinline__ float power_of_two(const float x) {
#ifdef KW_SIM
  return exp2f(x);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

// Makes a thread's dot products into scores, and finds the largest of each of its rows. `masked` is a
// literal at every call, so each call is compiled for its case. Rows and keys past the last are the last to the mod.
__device__ __forceinline__ void finish_scores(float (&scores)[SCORE_TILES][4], float (&highest)[THREAD_ROWS],
                                              const bool masked, const int thread_query, const int thread_key,
                                              const int (&row_first)[THREAD_ROWS],
                                              const int (&row_last)[THREAD_ROWS], const int Sq, const int Skv,
                                              const float scale) {
  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    const int allowed_first = row_first[r];
    const int allowed_last = row_last[r];
    highest[r] = -INFINITY;
    #pragma unroll
    for (int c = 0; c < THREAD_KEYS; ++c) {
      const int key = thread_key + c / 2 * 8 + c % 2;
      const float dot_product = SCORE(r, c);
      float s = dot_product;
      if (masked && !(key >= allowed_first && key <= allowed_last)) s = -INFINITY;
      SCORE(r, c) = s;
      highest[r] = fmaxf(highest[r], s);
    }
  }
}

// Scores to probabilities 2^(score * unit - peak), not yet divided by their sum. `total` gathers the thread's share of
// it, and `shrink` is what everything summed with the last peak must be multiplied by.
__device__ __forceinline__ void online_softmax(float (&scores)[SCORE_TILES][4],
                                               const float (&highest)[THREAD_ROWS], const float unit,
                                               float (&peak)[THREAD_ROWS], float (&total)[THREAD_ROWS],
                                               float (&shrink)[THREAD_ROWS]) {
  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    float next = highest[r] * unit;
    #pragma unroll
    for (int step = ROW_LANES / 2; step > 0; step /= 2) next = fmaxf(next, __shfl_xor_sync(ALL_LANES, next, step));
    next = fmaxf(next, peak[r]);
    // While every key so far is masked the peak is -inf, and -inf - -inf would be NaN.
    const float base = next == -INFINITY ? 0.0f : next;
    shrink[r] = power_of_two(peak[r] - base);
    peak[r] = next;
    float sum = 0.0f;
    #pragma unroll
    for (int c = 0; c < THREAD_KEYS; ++c) {
      SCORE(r, c) = power_of_two(fmaf(SCORE(r, c), unit, -base));
      sum += SCORE(r, c);
    }
    total[r] = total[r] * shrink[r] + sum;
  }
}

// A row's probabilities, gathered over the lanes that share it.
__device__ __forceinline__ float over_lanes(float sum) {
  #pragma unroll
  for (int step = ROW_LANES / 2; step > 0; step /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
  return sum;
}
// 16 bytes from global to shared memory behind the kernel's back; zeros instead of what lies past `bytes`.
__device__ __forceinline__ void cp_async_16(void* to, const void* from, const int bytes) {
#ifdef KW_SIM
  __kw_sim_cp_async_16(to, from, bytes);
#else
  const unsigned address = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
#endif
}

__device__ __forceinline__ void cp_async_commit() {
#ifdef KW_SIM
  __kw_sim_cp_async_commit();
#else
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Until at most N of the groups committed last are still under way.
template <int N>
__device__ __forceinline__ void cp_async_wait() {
#ifdef KW_SIM
  __kw_sim_cp_async_wait_group<N>();
#else
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

// Seldom after the first panels: most often no row of a warp has found a larger score.
__device__ __forceinline__ void shrink_sums(const float (&shrink)[2], float (&out)[VALUE_TILES][4]) {
  if (!__any_sync(ALL_LANES, shrink[0] != 1.0f || shrink[1] != 1.0f)) return;
  #pragma unroll
  for (int j = 0; j < VALUE_TILES; ++j)
    #pragma unroll
    for (int i = 0; i < 4; ++i) out[j][i] *= shrink[i / 2];
}

// The descriptor of a place in a tile whose rows are 128 bytes with their 16-byte chunks exchanged by row: its address,
// how far the next 128 bytes of a row are where rows are what is summed over, 1024 bytes from 8 rows to the next 8, and
// the exchange.
__device__ __forceinline__ unsigned long long describe(const void* place, const unsigned panel_bytes) {
  const unsigned address = (unsigned)__cvta_generic_to_shared(place);
  return (unsigned long long)((address & 0x3ffff) >> 4) | (unsigned long long)(panel_bytes >> 4) << 16 |
         (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}

// What threads have written to shared memory becomes visible to the tensor cores.
__device__ __forceinline__ void proxy_fence() {
#ifndef KW_SIM
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// Registers that a product takes hold what was last written to them.
__device__ __forceinline__ void begin_products() {
#ifndef KW_SIM
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

// Ends a group of products.
__device__ __forceinline__ void commit_products() {
#ifdef KW_SIM
  __kw_sim_wgmma_commit_group();
#else
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

// Until at most PENDING of the groups ended last are still under way. The compiler must not read `sums`, which one of
// the others writes, any sooner.
template <int PENDING, int TILES>
__device__ __forceinline__ void wait_products(float (&sums)[TILES][4]) {
#ifdef KW_SIM
  __kw_sim_wgmma_wait_group<PENDING>();
#else
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
  #pragma unroll
  for (int j = 0; j < TILES; ++j)
    #pragma unroll
    for (int i = 0; i < 4; ++i) asm volatile("" : "+f"(sums[j][i])::"memory");
#endif
}

// The accumulators of 8 columns as operands of an instruction.
#define SUMS(j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])

// Tiles lie as the tensor cores' descriptors want them: panels of 64 columns one behind the other, rows of 128 bytes,
// 16-byte chunks exchanged by row. Where 16 bytes of a tile of `rows` rows begin.
__device__ __forceinline__ int chunk_offset(const int row, const int chunk, const int rows) {
  return (chunk / 8 * rows + row) * 64 + (chunk % 8 ^ (row & 7)) * 8;
}

// A barrier for all warps, wherever each of them calls it from. __syncthreads() promises that all of them arrive at the
// same place in the text (PTX ISA, "barrier": bar.sync is barrier.sync.aligned); warpgroups half a panel apart do not.
__device__ __forceinline__ void block_barrier() {
#if PINGPONG && !defined(KW_SIM)
  asm volatile("barrier.sync 0;" ::: "memory");
#else
  __syncthreads();
#endif
}

// d = a * b + d, or a * b where nothing is to be added to; for 64 x 16 by 16 x 64.
__device__ __forceinline__ void multiply(float (&d)[8][4], const __half* a, const __half* b,
                                         const bool add) {
#ifdef KW_SIM
  __kw_sim_wgmma_m64k16_f16_f32(d, a, b, add);
#else
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
            "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, add, 1, 1, 0, 0;\n"
      "}\n"
      : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7)
      : "l"(describe(a, 16)), "l"(describe(b, 16)), "r"((int)add));
#endif
}

// d += a * b with a in registers, and rows of b that are summed over.
__device__ __forceinline__ void multiply_columns(float (&d)[8][4], const unsigned (&a)[4], const __half* b,
                                                 const unsigned panel_bytes) {
#ifdef KW_SIM
  __kw_sim_wgmma_trans_m64k16_f16_f32(d, a, b, panel_bytes);
#else
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
            "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, add, 1, 1, 1;\n"
      "}\n"
      : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(describe(b, panel_bytes)), "r"(1));
#endif
}

// d = a * b + d, or a * b where nothing is to be added to; for 64 x 16 by 16 x 128.
__device__ __forceinline__ void multiply(float (&d)[16][4], const __half* a, const __half* b,
                                         const bool add) {
#ifdef KW_SIM
  __kw_sim_wgmma_m64k16_f16_f32(d, a, b, add);
#else
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
            "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
            "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
            "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, add, 1, 1, 0, 0;\n"
      "}\n"
      : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7),
              SUMS(8), SUMS(9), SUMS(10), SUMS(11), SUMS(12), SUMS(13), SUMS(14), SUMS(15)
      : "l"(describe(a, 16)), "l"(describe(b, 16)), "r"((int)add));
#endif
}

// d += a * b with a in registers, and rows of b that are summed over.
__device__ __forceinline__ void multiply_columns(float (&d)[16][4], const unsigned (&a)[4], const __half* b,
                                                 const unsigned panel_bytes) {
#ifdef KW_SIM
  __kw_sim_wgmma_trans_m64k16_f16_f32(d, a, b, panel_bytes);
#else
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
            "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
            "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
            "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, %68, add, 1, 1, 1;\n"
      "}\n"
      : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7),
              SUMS(8), SUMS(9), SUMS(10), SUMS(11), SUMS(12), SUMS(13), SUMS(14), SUMS(15)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(describe(b, panel_bytes)), "r"(1));
#endif
}

// d = a * b + d, or a * b where nothing is to be added to; for 64 x 16 by 16 x 192.
__device__ __forceinline__ void multiply(float (&d)[24][4], const __half* a, const __half* b,
                                         const bool add) {
#ifdef KW_SIM
  __kw_sim_wgmma_m64k16_f16_f32(d, a, b, add);
#else
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
            "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
            "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
            "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
            "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
            "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
      "%96, %97, add, 1, 1, 0, 0;\n"
      "}\n"
      : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7),
              SUMS(8), SUMS(9), SUMS(10), SUMS(11), SUMS(12), SUMS(13), SUMS(14), SUMS(15),
              SUMS(16), SUMS(17), SUMS(18), SUMS(19), SUMS(20), SUMS(21), SUMS(22), SUMS(23)
      : "l"(describe(a, 16)), "l"(describe(b, 16)), "r"((int)add));
#endif
}

// d += a * b with a in registers, and rows of b that are summed over.
__device__ __forceinline__ void multiply_columns(float (&d)[24][4], const unsigned (&a)[4], const __half* b,
                                                 const unsigned panel_bytes) {
#ifdef KW_SIM
  __kw_sim_wgmma_trans_m64k16_f16_f32(d, a, b, panel_bytes);
#else
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %101, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
            "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
            "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
            "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
            "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
            "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
      "{%96, %97, %98, %99}, %100, add, 1, 1, 1;\n"
      "}\n"
      : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7),
              SUMS(8), SUMS(9), SUMS(10), SUMS(11), SUMS(12), SUMS(13), SUMS(14), SUMS(15),
              SUMS(16), SUMS(17), SUMS(18), SUMS(19), SUMS(20), SUMS(21), SUMS(22), SUMS(23)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(describe(b, panel_bytes)), "r"(1));
#endif
}

// d = a * b + d, or a * b where nothing is to be added to; for 64 x 16 by 16 x 256.
__device__ __forceinline__ void multiply(float (&d)[32][4], const __half* a, const __half* b,
                                         const bool add) {
#ifdef KW_SIM
  __kw_sim_wgmma_m64k16_f16_f32(d, a, b, add);
#else
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
            "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
            "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
            "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
            "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
            "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
            "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
            "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, add, 1, 1, 0, 0;\n"
      "}\n"
      : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7),
              SUMS(8), SUMS(9), SUMS(10), SUMS(11), SUMS(12), SUMS(13), SUMS(14), SUMS(15),
              SUMS(16), SUMS(17), SUMS(18), SUMS(19), SUMS(20), SUMS(21), SUMS(22), SUMS(23),
              SUMS(24), SUMS(25), SUMS(26), SUMS(27), SUMS(28), SUMS(29), SUMS(30), SUMS(31)
      : "l"(describe(a, 16)), "l"(describe(b, 16)), "r"((int)add));
#endif
}

// d += a * b with a in registers, and rows of b that are summed over.
__device__ __forceinline__ void multiply_columns(float (&d)[32][4], const unsigned (&a)[4], const __half* b,
                                                 const unsigned panel_bytes) {
#ifdef KW_SIM
  __kw_sim_wgmma_trans_m64k16_f16_f32(d, a, b, panel_bytes);
#else
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %133, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
            "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
            "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
            "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
            "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
            "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
            "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
            "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "{%128, %129, %130, %131}, %132, add, 1, 1, 1;\n"
      "}\n"
      : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7),
              SUMS(8), SUMS(9), SUMS(10), SUMS(11), SUMS(12), SUMS(13), SUMS(14), SUMS(15),
              SUMS(16), SUMS(17), SUMS(18), SUMS(19), SUMS(20), SUMS(21), SUMS(22), SUMS(23),
              SUMS(24), SUMS(25), SUMS(26), SUMS(27), SUMS(28), SUMS(29), SUMS(30), SUMS(31)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(describe(b, panel_bytes)), "r"(1));
#endif
}


__device__ __forceinline__ unsigned pack_halves(const float low, const float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  unsigned bits;
  memcpy(&bits, &pair, sizeof bits);
  return bits;
}

// Begins the products of a warpgroup's 64 queries with all keys of a tile. The queries are read anew for each tile:
// ptxas 13.0 gave the registers of queries that were held there to probabilities as well.
__device__ __forceinline__ void dot_products(const __half* queries, const __half* keys, const int warp,
                                             float (&scores)[SCORE_TILES][4]) {
  const __half* rows = queries + warp / 4 * 64 * 64;
  #pragma unroll
  for (int k = 0; k < (HEAD_DIM + 15) / 16; ++k)
    multiply(scores, rows + k / 4 * BM * 64 + k % 4 * 16, keys + k / 4 * BN * 64 + k % 4 * 16, k > 0);
  commit_products();
}

// Begins out += probabilities * values.
__device__ __forceinline__ void add_values(const unsigned (&probabilities)[BN / 16][4], const __half* values,
                                           float (&out)[VALUE_TILES][4]) {
  #pragma unroll
  for (int k = 0; k < BN / 16; ++k) multiply_columns(out, probabilities[k], values + 16 * k * 64, 128 * BN);
  commit_products();
}

// Ends it. The probabilities' registers are not free before.
__device__ __forceinline__ void end_values(const unsigned (&probabilities)[BN / 16][4], float (&out)[VALUE_TILES][4]) {
  wait_products<0>(out);
#ifndef KW_SIM
  #pragma unroll
  for (int k = 0; k < BN / 16; ++k)
    #pragma unroll
    for (int i = 0; i < 4; ++i) asm volatile("" ::"r"(probabilities[k][i]));
#endif
}

// Rounded to f16; the accumulators of the scores are laid out as the left operand of the next product has to be.
__device__ __forceinline__ void pack_probabilities(const float (&scores)[SCORE_TILES][4],
                                                   unsigned (&probabilities)[BN / 16][4]) {
  #pragma unroll
  for (int k = 0; k < BN / 16; ++k)
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      probabilities[k][i] = pack_halves(scores[2 * k + i / 2][i % 2 * 2], scores[2 * k + i / 2][i % 2 * 2 + 1]);
}

// ROWS rows into a tile, with zeros behind each row and behind the last. Rows that do not begin on 16 bytes are copied
// element by element, at once.
template <int ROWS, int DIM, int PAD, int STRIDE>
__device__ __forceinline__ void load_rows(const __half* from, __half* to, const int rows_left) {
  constexpr int chunks = PAD / CHUNK;
  const int thread = (int)threadIdx.x;
  if (DIM % CHUNK == 0 && DIM == PAD && THREADS % chunks == 0 && ROWS <= rows_left) {
    // A thread copies the same chunk of every so many rows, whose places are a constant apart.
    constexpr int step = THREADS / chunks > 0 ? THREADS / chunks : 1;
    // Operands of 4 bytes are split where they are multiplied, which leaves few registers for the copies' places, and
    // wide heads leave none.
    constexpr int most = CHUNK > 4 ? 16 : HEAD_PAD > 128 || VALUE_PAD > 128 ? 1 : 4;
    constexpr int unrolled = ROWS / step < most ? ROWS / step + 1 : most;
    const int first = thread / chunks, chunk = thread % chunks;
    const __half* source = from + thread * CHUNK;
    #pragma unroll unrolled
    for (int r = 0; r < ROWS; r += step) {
      const int row = first + r;
      if (ROWS % step == 0 || row < ROWS) cp_async_16(to + chunk_offset(row, chunk, ROWS), source + r * DIM, 16);
    }
    return;
  }
  #pragma unroll 1
  for (int i = thread; i < ROWS * chunks; i += THREADS) {
    const int row = i / chunks, chunk = i % chunks, d = chunk * CHUNK;
    __half* target = to + chunk_offset(row, chunk, ROWS);
    const bool inside = row < rows_left && d < DIM;
    if (DIM % CHUNK == 0) {
      cp_async_16(target, inside ? from + (long)row * DIM + d : from, inside ? 16 : 0);
    } else {
      #pragma unroll
      for (int e = 0; e < CHUNK; ++e)
        target[e] = inside && d + e < DIM ? from[(long)row * DIM + d + e] : __float2half(0.0f);
    }
  }
}

// Two neighbouring elements of a row of the output, those of them that there are.
__device__ __forceinline__ void store_pair(__half* row, const int d, const float first, const float second) {
  if (VALUE_DIM % 2 == 0 && d < VALUE_DIM) {
    *(__half2*)(row + d) = __floats2half2_rn(first, second);
    return;
  }
  if (d < VALUE_DIM) row[d] = __float2half(first);
  if (d + 1 < VALUE_DIM) row[d + 1] = __float2half(second);
}

// A tile of BM queries of one head per block, 16 per warp. Keys and values pass through a ring of STAGES tiles that is
// filled ahead of their use. Softmax is online: peak and total hold each row's largest score so far and a thread's
// share of the sum of its probabilities.
extern "C" __global__ __launch_bounds__(THREADS, RESIDENT)
void attention(const __half* __restrict__ Q, const __half* __restrict__ K, const __half* __restrict__ V,
               const int* __restrict__ document_id, __half* __restrict__ O, const int Sq, const int Skv, const int Hq,
               const int Hkv) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  __half* queries = (__half*)(shared_memory + (-(long)__cvta_generic_to_shared(shared_memory) & 1023));
  __half* keys = queries + BM * HEAD_STRIDE;
  __half* values = keys + STAGES * BN * HEAD_STRIDE;
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const int thread_row = 16 * warp + lane / 4, thread_key = 2 * (lane % 4);
  const int h = blockIdx.y, b = blockIdx.z;
  const long query_head = (long)b * Hq + h;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const int first_row = (int)(gridDim.x - 1 - blockIdx.x) * BM;
  const float scale = LOG2_E * (1.0f / sqrt((float)HEAD_DIM));
  // Keys each row may attend to, the panels that any row needs, and the keys that every row may attend to.
  __shared__ int tile_first[BM], tile_last[BM], any_keys[2], every_keys[2];
  if (threadIdx.x == 0) {
    any_keys[0] = Skv;
    any_keys[1] = -1;
    every_keys[0] = 0;
    every_keys[1] = Skv - 1;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < BM; i += THREADS) {
    const int q_idx = min(first_row + i, Sq - 1);
    const int first = first_allowed(b, h, q_idx, document_id, Skv);
    const int last = last_allowed(b, h, q_idx, document_id, Skv);
    tile_first[i] = first;
    tile_last[i] = last;
    atomicMax(every_keys, first);
    atomicMin(every_keys + 1, last);
    if (first > last) continue;
    atomicMin(any_keys, first);
    atomicMax(any_keys + 1, last);
  }
  __syncthreads();
  const int every_first = every_keys[0], every_last = every_keys[1];
  const int first_panel = any_keys[0] / BN, end_panel = (any_keys[1] + BN) / BN;
  int row_first[THREAD_ROWS], row_last[THREAD_ROWS];
  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    row_first[r] = tile_first[thread_row + r * ROW_STEP];
    row_last[r] = tile_last[thread_row + r * ROW_STEP];
  }
  const __half* head_keys = K + key_head * Skv * HEAD_DIM;
  const __half* head_values = V + key_head * Skv * VALUE_DIM;
  const auto load_keys = [&](const int panel, const int stage) {
    const int first_key = panel * BN;
    load_rows<BN, HEAD_DIM, HEAD_PAD, HEAD_STRIDE>(head_keys + (long)first_key * HEAD_DIM,
                                                   keys + stage * BN * HEAD_STRIDE, Skv - first_key);
  };
  const auto load_values = [&](const int panel, const int stage) {
    const int first_key = panel * BN;
    load_rows<BN, VALUE_DIM, VALUE_PAD, VALUE_STRIDE>(head_values + (long)first_key * VALUE_DIM,
                                                      values + stage * BN * VALUE_STRIDE, Skv - first_key);
  };

  int panel = first_panel, ahead = panel;
  load_rows<BM, HEAD_DIM, HEAD_PAD, HEAD_STRIDE>(Q + (query_head * Sq + first_row) * HEAD_DIM, queries,
                                                 Sq - first_row);
  float out[VALUE_TILES][4], peak[2] = {-INFINITY, -INFINITY}, total[2] = {0.0f, 0.0f};
  #pragma unroll
  for (int j = 0; j < VALUE_TILES; ++j)
    #pragma unroll
    for (int i = 0; i < 4; ++i) out[j][i] = 0.0f;
  // Keys are multiplied one panel ahead of values, so a panel's keys are copied together with the values of the panel
  // before it.
  int slot = 0, behind = end_panel;
  const auto copy_next = [&]() {
    const int free_slot = slot > 0 ? slot - 1 : STAGES - 1;
    if (behind < end_panel) load_values(behind, free_slot > 0 ? free_slot - 1 : STAGES - 1);
    behind = ahead;
    if (ahead < end_panel) {
      load_keys(ahead, free_slot);
      ahead = ahead + 1;
    }
    cp_async_commit();
  };
  #pragma unroll
  for (slot = 1; slot < STAGES; ++slot) copy_next();
  slot = 0;
  const auto await_copies = [&]() {
    cp_async_wait<STAGES - 2>();
    proxy_fence();
    block_barrier();
  };
  float scores[SCORE_TILES][4], highest[2], shrink[2];
  unsigned probabilities[BN / 16][4];
  const auto multiply_keys = [&]() { dot_products(queries, keys + slot * BN * HEAD_STRIDE, warp, scores); };
  const auto softmax_panel = [&]() {
    const int first_key = panel * BN;
    if (first_key < every_first || first_key + BN - 1 > every_last)
      finish_scores(scores, highest, true, first_row + thread_row, first_key + thread_key, row_first,
                    row_last, Sq, Skv, scale);
    else
      finish_scores(scores, highest, false, first_row + thread_row, first_key + thread_key, row_first,
                    row_last, Sq, Skv, scale);
    online_softmax(scores, highest, scale, peak, total, shrink);
    panel = panel + 1;
  };
  const auto multiply_last_values = [&]() {
    begin_products();
    add_values(probabilities, values + slot * BN * VALUE_STRIDE, out);
    end_values(probabilities, out);
  };
  if (panel < end_panel) {
  #if PINGPONG
    // The second warpgroup is half a panel behind: while one multiplies, the other one does its softmax.
    const auto end_step = [&]() {
      copy_next();
      wait_products<0>(scores);
      end_values(probabilities, out);
      await_copies();
    };
    const bool second = warp / 4 % 2 == 1;
    await_copies();
    if (second) block_barrier();
    begin_products();
    multiply_keys();
    end_step();
    softmax_panel();
    pack_probabilities(scores, probabilities);
    block_barrier();
    #pragma unroll 1
    while (panel < end_panel) {
      const __half* last_values = values + slot * BN * VALUE_STRIDE;
      slot = slot + 1 < STAGES ? slot + 1 : 0;
      begin_products();
      multiply_keys();
      add_values(probabilities, last_values, out);
      end_step();
      softmax_panel();
      shrink_sums(shrink, out);
      pack_probabilities(scores, probabilities);
      block_barrier();
    }
    multiply_last_values();
    if (!second) block_barrier();
  #else
    // The next panel's scores are begun before the last one's values are waited for.
    const auto begin_panel = [&]() {
      await_copies();
      copy_next();
      begin_products();
    };
    begin_panel();
    multiply_keys();
    wait_products<0>(scores);
    softmax_panel();
    pack_probabilities(scores, probabilities);
    #pragma unroll 1
    while (panel < end_panel) {
      const __half* last_values = values + slot * BN * VALUE_STRIDE;
      slot = slot + 1 < STAGES ? slot + 1 : 0;
      begin_panel();
      multiply_keys();
      add_values(probabilities, last_values, out);
      wait_products<1>(scores);
      softmax_panel();
      end_values(probabilities, out);
      shrink_sums(shrink, out);
      pack_probabilities(scores, probabilities);
    }
    await_copies();
    multiply_last_values();
  #endif
  }

  #pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = first_row + thread_row + r * ROW_STEP;
    const float sum = over_lanes(total[r]);
    if (row >= Sq) continue;
    // A row whose keys were all masked has no probabilities, and its output is zero.
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f;
    auto* to = O + (query_head * Sq + row) * VALUE_DIM;
    #pragma unroll
    for (int j = 0; j < VALUE_TILES; ++j)
      store_pair(to, 8 * j + thread_key, out[j][2 * r] * factor, out[j][2 * r + 1] * factor);
  }
}
