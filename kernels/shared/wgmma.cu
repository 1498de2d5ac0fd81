// Products of a warpgroup of sm_90a with operands in shared memory (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions"). They are begun, and waited for later.

// --- section: asynchronous_products
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

// --- section: multiply
// d = a * b + d, or a * b where nothing is to be added to; for 64 x ${steps} by ${steps} x ${columns}.
__device__ __forceinline__ void multiply(float (&d)[${tiles}][4], const ${element}* a, const ${element}* b,
                                         const bool add) {
#ifdef KW_SIM
  __kw_sim_wgmma_m64k${steps}_${type}_f32(d, a, b, add);
#else
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %${add}, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n${columns}k${steps}.f32.${type}.${type} "
      "{${operands}}, "
      "%${a}, %${b}, add, 1, 1${majors};\n"
      "}\n"
      : ${accumulators}
      : "l"(describe(a, 16)), "l"(describe(b, 16)), "r"((int)add));
#endif
}

// --- section: places
// A place in shared memory, in units of 16 bytes, so that places further on are described by an addition. The simulator
// has the address instead.
#ifdef KW_SIM
typedef const float* SharedPlace;
__device__ __forceinline__ SharedPlace shared_place(const float* address) { return address; }
__device__ __forceinline__ SharedPlace further(const SharedPlace place, const int units) { return place + 4 * units; }
#else
typedef unsigned SharedPlace;
__device__ __forceinline__ SharedPlace shared_place(const float* address) {
  return (unsigned)__cvta_generic_to_shared(address) >> 4;
}
__device__ __forceinline__ SharedPlace further(const SharedPlace place, const int units) { return place + units; }
#endif

// The descriptor of a place in a tile without exchange: 16 bytes of each of 8 rows behind one another, the next 16 bytes
// of these rows at leading_bytes, the next 8 rows at stride_bytes.
__device__ __forceinline__ unsigned long long describe_places(const unsigned place, const unsigned leading_bytes,
                                                              const unsigned stride_bytes) {
  return (unsigned long long)(stride_bytes >> 4) << 32 | (place + (leading_bytes >> 4 << 16));
}

// --- section: multiply_places
// d = a * b + d, or a * b where nothing is to be added to; for 64 x ${steps} by ${steps} x ${columns}. Both lie in places
// without exchange; rows of a are 16 bytes from each other all through.
__device__ __forceinline__ void ${function}(float (&d)[${tiles}][4], const SharedPlace a,
                                            const unsigned a_leading, const SharedPlace b, const unsigned b_leading,
                                            const unsigned b_stride, const bool add) {
#ifdef KW_SIM
  __kw_sim_wgmma_places_m64k${steps}_${type}_f32(d, a, a_leading, 128, b, b_leading, b_stride, add);
#else
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %${add}, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n${columns}k${steps}.f32.${type}.${type} "
      "{${operands}}, "
      "%${a}, %${b}, add, 1, 1${majors};\n"
      "}\n"
      : ${accumulators}
      : "l"(describe_places(a, a_leading, 128)), "l"(describe_places(b, b_leading, b_stride)), "r"((int)add));
#endif
}

// --- section: multiply_columns
// d += a * b with a in registers, and rows of b that are summed over.
__device__ __forceinline__ void multiply_columns(float (&d)[${tiles}][4], const unsigned (&a)[4], const ${element}* b,
                                                 const unsigned panel_bytes) {
#ifdef KW_SIM
  __kw_sim_wgmma_trans_m64k16_${type}_f32(d, a, b, panel_bytes);
#else
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %${add_held}, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n${columns}k16.f32.${type}.${type} "
      "{${operands}}, "
      "{%${a}, %${b}, %${a2}, %${a3}}, %${rows}, add, 1, 1, 1;\n"
      "}\n"
      : ${accumulators}
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(describe(b, panel_bytes)), "r"(1));
#endif
}

// --- section: multiply_by_columns
// d += a * b with both in shared memory: steps are contiguous in rows of a, and columns in rows of b, 64 of them in a
// panel and the next 64 `panel_bytes` further on.
__device__ __forceinline__ void multiply_by_columns(float (&d)[${tiles}][4], const ${element}* a, const ${element}* b,
                                                    const unsigned panel_bytes) {
#ifdef KW_SIM
  __kw_sim_wgmma_columns_m64k16_${type}_f32(d, a, b, panel_bytes);
#else
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n${columns}k16.f32.${type}.${type} "
      "{${operands}}, "
      "%${a}, %${b}, 1, 1, 1, 0, 1;\n"
      : ${accumulators}
      : "l"(describe(a, 16)), "l"(describe(b, panel_bytes)));
#endif
}
