#pragma once
// Copies of boxes of a tensor by the copy engine of sm_90a, as functions (see blocks.cuh):
//
//   __kw_sim_tensormap_3d(map, memory, extents, strides, box)
//       tensormap.replace of all fields: a tensor of 16-bit numbers with a swizzle of 128 bytes, no interleaving, zeros
//       outside. `extents` in elements, those that are neighbours in memory first; `strides` in bytes, along the second
//       and the third; a box of 64 by box[0] by box[1]. Called by one thread; the 128 bytes at `map` are written.
//   __kw_sim_cp_async_bulk_tensor_3d(shared, map, x, y, z, barrier)
//       cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
//   __kw_sim_mbarrier_init(barrier, arrivals)        mbarrier.init.shared::cta.b64
//   __kw_sim_mbarrier_expect_tx(barrier, bytes)      mbarrier.arrive.expect_tx.shared::cta.b64
//   __kw_sim_mbarrier_wait_parity(barrier, parity)   mbarrier.try_wait.parity.shared::cta.b64, until it says yes
//
// A box arrives when somebody waits for its barrier and no sooner; until then its place holds bytes of 0xff. What a
// kernel gets wrong about fence.proxy is not found here.

KW_INLINE void __kw_sim_tensormap_3d(void* map, const void* memory, const int (&extents)[3], const long (&strides)[2],
                                     const int (&box)[2], KW_LINE) {
  if (reinterpret_cast<size_t>(map) % 128 != 0)
    kw_sim_stop("a tensor map lies at a multiple of 128 bytes", kw_line);
  if (reinterpret_cast<size_t>(memory) % 16 != 0 || strides[0] % 16 != 0 || strides[1] % 16 != 0)
    kw_sim_stop("a tensor's address and strides must be multiples of 16 bytes for the copy engine", kw_line);
  if (strides[0] <= 0 || strides[1] <= 0 || (strides[0] | strides[1]) >> 40 != 0)
    kw_sim_stop("a tensor's strides must be positive and less than 2^40 bytes for the copy engine", kw_line);
  if (extents[0] <= 0 || extents[1] <= 0 || extents[2] <= 0)
    kw_sim_stop("a tensor without elements cannot be described to the copy engine", kw_line);
  if (box[0] <= 0 || box[0] > 256 || box[1] <= 0 || box[1] > 256)
    kw_sim_stop("a box of the copy engine has 1 to 256 elements along an axis", kw_line);
  auto* written = static_cast<kw_sim::TensorMap*>(map);
  written->mark = kw_sim::k_tensor_map;
  written->memory = memory;
  written->box[0] = 64;
  for (int i = 0; i < 3; ++i) written->extents[i] = static_cast<unsigned>(extents[i]);
  for (int i = 0; i < 2; ++i) {
    written->strides[i] = static_cast<unsigned long>(strides[i]);
    written->box[i + 1] = static_cast<unsigned>(box[i]);
  }
}
KW_INLINE void __kw_sim_cp_async_bulk_tensor_3d(void* shared, const void* map, int x, int y, int z, void* barrier,
                                                KW_LINE) {
  const kw_sim::TensorCopy copy{shared, map, {x, y, z}, barrier, kw_line};
  kw_sim_copy_tensor(&copy);
}
KW_INLINE void __kw_sim_mbarrier_init(void* barrier, unsigned arrivals, KW_LINE) {
  kw_sim_init_barrier(barrier, arrivals, kw_line);
}
KW_INLINE void __kw_sim_mbarrier_expect_tx(void* barrier, unsigned bytes, KW_LINE) {
  kw_sim_expect_bytes(barrier, bytes, kw_line);
}
KW_INLINE void __kw_sim_mbarrier_wait_parity(void* barrier, unsigned parity, KW_LINE) {
  kw_sim_wait_for_phase(barrier, parity, kw_line);
}
