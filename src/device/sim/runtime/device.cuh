#pragma once
// What the languages of GPUs have in common, for the simulator: qualifiers, what the worker does for a candidate, who a
// thread is. cuda.cuh and hip.cuh include it, after they have defined KW_SIM, and the compiler's command line says how
// wide a warp is: KW_SIM_LANES.
#include "abi.hpp"
#include "c_names.cuh"
#include "numbers.hpp"

#define __global__ __attribute__((used, noinline, visibility("default"), section(".text.kw_kernel")))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
/// A thread of the host simulates one block at a time, so a block's memory is that thread's.
#ifdef __clang__
#define __shared__ thread_local
#else
#define __shared__ constinit thread_local  // else g++ guards arrays of classes
#endif
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __inline__ inline

/// Every function that touches memory or other threads says where it was called from.
#define KW_LINE int kw_line = __builtin_LINE()
#define KW_INLINE static inline __attribute__((always_inline, unused))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;

/// A call without a mask is told by its address, so that the compiler must not make two of it (g++: -fno-thread-jumps).
#ifdef __clang__
#define KW_ONE_CALL __attribute__((convergent, noduplicate))
#else
#define KW_ONE_CALL
#endif

extern "C" {
void kw_sim_access(const void* address, unsigned long bytes, unsigned kind, int line);
kw_sim::Coordinates kw_sim_thread_index() __attribute__((const));
kw_sim::Coordinates kw_sim_block_index() __attribute__((const));
kw_sim::Coordinates kw_sim_block_size() __attribute__((const));
kw_sim::Coordinates kw_sim_grid_size() __attribute__((const));
unsigned kw_sim_lane() __attribute__((const));
unsigned long kw_sim_live_lanes();
int kw_sim_barrier(kw_sim::BarrierOp op, int predicate, int line);
void kw_sim_warp(kw_sim::WarpRequest* request) KW_ONE_CALL;
void kw_sim_fence(int line);
unsigned long long kw_sim_compare_exchange(void* address, unsigned bytes, unsigned long long expected,
                                           unsigned long long desired);
void kw_sim_copy_async(void* shared, const void* global, int bytes, int source_bytes, int line);
void kw_sim_commit_copies();
void kw_sim_wait_for_copies(int groups_left, int line);
void kw_sim_copy_tensor(const kw_sim::TensorCopy* copy);
void kw_sim_init_barrier(void* barrier, unsigned arrivals, int line);
void kw_sim_expect_bytes(void* barrier, unsigned bytes, int line);
void kw_sim_wait_for_phase(void* barrier, unsigned parity, int line);
void kw_sim_defer_product(const kw_sim::Product* product);
void kw_sim_commit_products();
bool kw_sim_next_product(kw_sim::Product* product, int groups_left);
void kw_sim_pause(int line);
[[noreturn]] void kw_sim_stop(const char* what, int line);
}

#include "vectors.cuh"

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
KW_INLINE uint3 kw_sim_uint3(kw_sim::Coordinates c) { return uint3{c.x, c.y, c.z}; }
#define threadIdx (kw_sim_uint3(kw_sim_thread_index()))
#define blockIdx (kw_sim_uint3(kw_sim_block_index()))
#define blockDim (dim3(kw_sim_uint3(kw_sim_block_size())))
#define gridDim (dim3(kw_sim_uint3(kw_sim_grid_size())))
static constexpr int warpSize = KW_SIM_LANES;

#include "math.cuh"
#include "half.cuh"
