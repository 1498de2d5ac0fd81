// What CUDA C++ and HIP C++ have instead of OpenCL's functions, and where the two differ.

// --- section: tanh_rational
// tanh as a rational function, within 2.1e-8 of it before rounding: no branches, one division.
static inline float tanh_rational(float x) {
  x = fminf(fmaxf(x, -9.02f), 9.02f);
  const float y = x * x;
  float p = fmaf(1.33190895e-8f, y, 2.05834975e-5f);
  p = fmaf(p, y, 3.49403572e-3f);
  p = fmaf(p, y, 0.13379719f);
  p = fmaf(p, y, 0.999999979f);
  float q = fmaf(7.76202766e-7f, y, 3.2830946e-4f);
  q = fmaf(q, y, 0.0258710778f);
  q = fmaf(q, y, 0.467130342f);
  q = fmaf(q, y, 1.0f);
  return __fdividef(x * p, q);
}

// --- section: exp2_cuda
#ifdef KW_SIM
  return exp2f(x);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif

// --- section: exp2_hip
#if defined(KW_SIM) || !__has_builtin(__builtin_amdgcn_exp2f)
  return exp2f(x);
#else
  return __builtin_amdgcn_exp2f(x);
#endif

// --- section: sync_lanes_hip
// Lanes of a wavefront run in step: only the compiler has to be kept from moving what they do to shared memory.
__device__ __forceinline__ void sync_lanes() {
#ifdef KW_SIM
  __syncwarp();
#else
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#endif
}
