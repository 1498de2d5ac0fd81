#pragma once
// CUDA C++ for the simulator: what a candidate sees in place of the CUDA toolkit's headers. No standard library is
// reachable, as under NVRTC. A name that is not here does not exist; what exists on GPUs but cannot be simulated is
// refused by name (refused.cuh).
#define KW_SIM 1
#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0

#include "device.cuh"

/// Lanes of a warp, as a mask.
typedef unsigned kw_sim_mask;
typedef unsigned kw_sim_lane_set;
KW_INLINE unsigned long kw_sim_bits(kw_sim_mask mask) { return mask; }

#include "warp.cuh"
KW_INLINE void __syncwarp(unsigned mask = 0xffffffffu, KW_LINE) { kw_sim_sync(mask, false, kw_line); }
KW_INLINE unsigned __activemask() { return static_cast<unsigned>(kw_sim_live_lanes()); }

#include "atomics.cuh"
#include "memory.cuh"
#include "blocks.cuh"
#include "tensor_copies.cuh"
#include "wgmma.cuh"
#include "groups.cuh"
#include "launch.cuh"
#include "refused.cuh"
