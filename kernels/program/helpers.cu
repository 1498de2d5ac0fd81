// Functions that kernels of tensor programs call on GPUs, in CUDA C++ and HIP C++, in the place of those in plain.cl.

// --- section: larger
// The larger number; NaN where one is.
static __device__ __forceinline__ float larger(const float a, const float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(KW_SIM)
  float most;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
  return most;
#else
  return a > b || a != a ? a : b;
#endif
}

// --- section: smaller
// The smaller number; NaN where one is.
static __device__ __forceinline__ float smaller(const float a, const float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(KW_SIM)
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
#else
  return a < b || a != a ? a : b;
#endif
}
