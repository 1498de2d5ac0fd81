// Products of f32 on the tensor cores of sm_80 and later: as three products of tf32 numbers, where the small parts'
// product is below what f32 can tell, or as one of factors that are rounded.

// --- section: split
// A float as the sum of two tf32 numbers, to within 2^-21 of it: the first one is the nearest with 10 bits behind the
// point, ties away from zero; of the rest, tensor cores read as many bits as a tf32 number has.
struct Split {
  unsigned high, low;
};

__device__ __forceinline__ Split split(const float x) {
  Split parts;
  parts.high = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
  parts.low = __float_as_uint(x - __uint_as_float(parts.high));
  return parts;
}

// --- section: multiply_add
// d += a * b for 16 x 8 by 8 x 8.
__device__ __forceinline__ void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#ifdef KW_SIM
  __kw_sim_mma_m16n8k8_tf32_f32(d, a, b);
#else
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// --- section: rounded
// The bits of the nearest tf32 number, ties away from zero.
__device__ __forceinline__ unsigned rounded_bits(const float x) {
#ifdef KW_SIM
  return __kw_sim_to_tf32(x);
#else
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
#endif
}
