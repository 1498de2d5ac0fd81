#pragma once
// HIP C++ for the simulator: what a candidate sees in place of ROCm's headers, as cuda.cuh is for CUDA C++. A warp is a
// wavefront of 64 or 32 lanes. Masks have 64 bits whatever it is; the functions that have none work with the lanes that
// come to the same call before none of the wavefront can go on without them.
#define KW_SIM 1
#define __HIP__ 1
#define __HIPCC__ 1
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define __AMDGCN_WAVEFRONT_SIZE KW_SIM_LANES
#define __AMDGCN_WAVEFRONT_SIZE__ KW_SIM_LANES

#include "device.cuh"

/// Lanes of a wavefront. As in HIP, a mask of fewer bits is a mistake and not promoted.
struct kw_sim_mask {
  unsigned long bits;
  template <typename T>
  __attribute__((always_inline)) kw_sim_mask(T mask) : bits(static_cast<unsigned long>(mask)) {
    static_assert(sizeof(T) == 8, "the mask must be a 64-bit integer");
  }
};
typedef unsigned long long kw_sim_lane_set;
/// A wavefront of 32 ignores the upper half.
KW_INLINE unsigned long kw_sim_bits(kw_sim_mask mask) { return mask.bits & (~0UL >> (64 - KW_SIM_LANES)); }

#include "warp.cuh"
#define KW_SHUFFLE(NAME, OP, DISTANCE)                                                                    \
  template <typename T>                                                                                   \
  KW_INLINE T NAME(T value, DISTANCE distance, int width = KW_SIM_LANES, KW_LINE) {                       \
    return kw_sim_shuffle(kw_sim::WarpOp::OP, 0, true, value, static_cast<int>(distance), width, kw_line); \
  }
KW_SHUFFLE(__shfl, shuffle, int)
KW_SHUFFLE(__shfl_up, shuffle_up, unsigned)
KW_SHUFFLE(__shfl_down, shuffle_down, unsigned)
KW_SHUFFLE(__shfl_xor, shuffle_xor, int)
#undef KW_SHUFFLE
KW_INLINE unsigned long long __ballot(int predicate, KW_LINE) {
  return kw_sim_vote(0, true, predicate, kw_line).chosen;
}
KW_INLINE int __any(int predicate, KW_LINE) { return kw_sim_vote(0, true, predicate, kw_line).chosen != 0; }
KW_INLINE int __all(int predicate, KW_LINE) {
  const kw_sim_lanes lanes = kw_sim_vote(0, true, predicate, kw_line);
  return lanes.chosen == lanes.present;
}
KW_INLINE unsigned long long __activemask(KW_LINE) { return kw_sim_vote(0, true, 1, kw_line).present; }
/// A line that no number converts to: a mask alone must not become it.
struct kw_sim_here {
  int line;
};
KW_INLINE void __syncwarp(kw_sim_here here = {__builtin_LINE()}) { kw_sim_sync(0, true, here.line); }
template <typename Mask>
KW_INLINE void __syncwarp(Mask mask, KW_LINE) {
  kw_sim_sync(kw_sim_bits(mask), false, kw_line);
}
KW_INLINE unsigned __lane_id() { return kw_sim_lane(); }

#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)
#define HIP_DYNAMIC_SHARED(TYPE, NAME) extern __shared__ TYPE NAME[];
#define HIP_KERNEL_NAME(...) __VA_ARGS__

typedef nv_bfloat16 __hip_bfloat16;
typedef nv_bfloat162 __hip_bfloat162;
typedef nv_bfloat16 hip_bfloat16;

#include "atomics.cuh"
#include "memory.cuh"
#include "groups.cuh"
#include "launch.cuh"

// What exists in HIP C++ and cannot be simulated, as in refused.cuh. AMD's builtins are refused because they are not here.
#pragma GCC poison asm __asm__ __asm
#pragma GCC poison tex1D tex1Dfetch tex2D tex3D surf2Dread surf2Dwrite hipTextureObject_t hipSurfaceObject_t
#pragma GCC poison rocwmma this_grid grid_group this_multi_grid
#pragma GCC poison hipMalloc hipFree hipMemcpy hipLaunchKernelGGL hipLaunchKernel hipDeviceSynchronize
