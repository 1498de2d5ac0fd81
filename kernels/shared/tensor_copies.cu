// Copies of boxes of a tensor to shared memory by the copy engine of sm_90a, and the barriers in shared memory at which
// their bytes arrive (PTX ISA, "Data Movement and Conversion Instructions: Tensor copy" and "Parallel Synchronization
// and Communication Instructions: mbarrier").

// --- section: tensor_copies
// Describes a tensor of 16-bit numbers to the copy engine, by a warp: `extents` in elements, those that are neighbours in
// memory first; `strides` in bytes along the second and the third, multiples of 16 as the address is. A box is 64 by
// box[0] by box[1]; rows of 128 bytes, their 16-byte chunks exchanged by row; zeros outside of the tensor. The
// description is made in `words`, which begin at a multiple of 128 bytes, and moves to `map` in global memory.
__device__ __forceinline__ void describe_tensor(int* const map, unsigned (&words)[32], const void* const memory,
                                                const int (&extents)[3], const long (&strides)[2],
                                                const int (&box)[2]) {
  const int lane = threadIdx.x % 32;
  words[lane] = 0;
  __syncwarp();
  if (lane == 0) {
#ifdef KW_SIM
    __kw_sim_tensormap_3d(words, memory, extents, strides, box);
#else
    asm volatile(
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;\n"
        "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 2;\n"
        "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %2;\n"
        "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %3;\n"
        "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 2, %4;\n"
        "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %5;\n"
        "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 1, %6;\n"
        "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 0, 64;\n"
        "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %7;\n"
        "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 2, %8;\n"
        "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, 1;\n"
        "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, 1;\n"
        "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 2, 1;\n"
        "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 1;\n"
        "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], 0;\n"
        "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 3;\n"
        "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;\n"
        ::"r"((unsigned)__cvta_generic_to_shared(words)), "l"(memory), "r"(extents[0]), "r"(extents[1]),
        "r"(extents[2]), "l"(strides[0]), "l"(strides[1]), "r"(box[0]), "r"(box[1])
        : "memory");
#endif
  }
  __syncwarp();
#ifdef KW_SIM
  map[lane] = words[lane];
#else
  asm volatile(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
      ::"l"(map), "r"((unsigned)__cvta_generic_to_shared(words))
      : "memory");
#endif
}

// What another warp has described, before a barrier of the block, is seen by the thread that copies by it.
__device__ __forceinline__ void acquire_map(const int* const map) {
#ifndef KW_SIM
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
#endif
}

// Makes a barrier at which one thread arrives a phase, and the bytes that it expects. Other threads may use it behind a
// barrier of the block.
__device__ __forceinline__ void make_arrivals(unsigned long long* const arrivals) {
#ifdef KW_SIM
  __kw_sim_mbarrier_init(arrivals, 1);
#else
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;\n"
               ::"r"((unsigned)__cvta_generic_to_shared(arrivals)) : "memory");
#endif
}

__device__ __forceinline__ void expect_bytes(unsigned long long* const arrivals, const unsigned bytes) {
#ifdef KW_SIM
  __kw_sim_mbarrier_expect_tx(arrivals, bytes);
#else
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               ::"r"((unsigned)__cvta_generic_to_shared(arrivals)), "r"(bytes) : "memory");
#endif
}

// The box of the map's tensor that begins at element (x, y, z); whoever has read what lay there must be done with it.
__device__ __forceinline__ void copy_box(void* const to, const void* const map, const int x, const int y, const int z,
                                         unsigned long long* const arrivals) {
#ifdef KW_SIM
  __kw_sim_cp_async_bulk_tensor_3d(to, map, x, y, z, arrivals);
#else
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];"
      ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(map), "r"((unsigned)__cvta_generic_to_shared(arrivals)),
      "r"(x), "r"(y), "r"(z)
      : "memory");
#endif
}

// Until the phase of that parity has ended: 0 is the first, and they alternate.
__device__ __forceinline__ void wait_for_bytes(unsigned long long* const arrivals, const int parity) {
#ifdef KW_SIM
  __kw_sim_mbarrier_wait_parity(arrivals, parity);
#else
  asm volatile(
      "{\n"
      ".reg .pred ended;\n"
      "waiting:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
      "@!ended bra waiting;\n"
      "}\n"
      ::"r"((unsigned)__cvta_generic_to_shared(arrivals)), "r"(parity)
      : "memory");
#endif
}
