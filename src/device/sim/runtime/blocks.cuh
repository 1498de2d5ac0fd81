#pragma once
// Tensor-core and copy instructions as functions. A kernel that is to run here and on a GPU writes each as a device
// function of its own, with the PTX of the GPU under #ifndef KW_SIM and a call of these under #ifdef KW_SIM. Registers
// hold what the PTX instruction's registers hold, lane for lane:
//
//   __kw_sim_ldmatrix_x4(r, row)   ldmatrix.sync.aligned.m8n8.x4.shared.b16; lane L gives the address of row L % 8 of
//                                  matrix L / 8, r[i] receives from matrix i. Likewise x2, x1 and all three with _trans.
//   __kw_sim_mma_m16n8k16_f16_f32(d, a, b)    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32, d = a * b + d
//   __kw_sim_mma_m16n8k16_bf16_f32(d, a, b)   the same for bfloat16
//   __kw_sim_mma_m16n8k8_tf32_f32(d, a, b)    mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
//   __kw_sim_cp_async_16(shared, global, n)   cp.async.cg.shared.global with 16 bytes, of which n are read and the rest
//                                             are zero; 8 and 4 bytes: cp.async.ca
//   __kw_sim_cp_async_commit(), __kw_sim_cp_async_wait_group<N>()
//
// Products are exact and are added to d in float, one after the other in the order of k. Copies arrive when they are
// waited for and no sooner.

#define KW_LOAD_MATRICES(NAME, COUNT, OP)                                                             \
  KW_INLINE void NAME(unsigned (&r)[COUNT], const void* row, KW_LINE) {                               \
    kw_sim::WarpRequest request{kw_sim::WarpOp::OP, 0xffffffffu, kw_line, COUNT, 32, 16, row, r};     \
    kw_sim_warp(&request);                                                                            \
  }
KW_LOAD_MATRICES(__kw_sim_ldmatrix_x4, 4, load_matrices)
KW_LOAD_MATRICES(__kw_sim_ldmatrix_x2, 2, load_matrices)
KW_LOAD_MATRICES(__kw_sim_ldmatrix_x1, 1, load_matrices)
KW_LOAD_MATRICES(__kw_sim_ldmatrix_x4_trans, 4, load_matrices_transposed)
KW_LOAD_MATRICES(__kw_sim_ldmatrix_x2_trans, 2, load_matrices_transposed)
KW_LOAD_MATRICES(__kw_sim_ldmatrix_x1_trans, 1, load_matrices_transposed)
#undef KW_LOAD_MATRICES

KW_INLINE void kw_sim_multiply(kw_sim::WarpOp op, float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2],
                               int line) {
  const unsigned operands[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
  kw_sim::WarpRequest request{op, 0xffffffffu, line, 0, 32, 24, operands, d};
  kw_sim_warp(&request);
}
KW_INLINE void __kw_sim_mma_m16n8k16_f16_f32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], KW_LINE) {
  kw_sim_multiply(kw_sim::WarpOp::multiply_f16, d, a, b, kw_line);
}
KW_INLINE void __kw_sim_mma_m16n8k16_bf16_f32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], KW_LINE) {
  kw_sim_multiply(kw_sim::WarpOp::multiply_bf16, d, a, b, kw_line);
}
KW_INLINE void __kw_sim_mma_m16n8k8_tf32_f32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], KW_LINE) {
  kw_sim_multiply(kw_sim::WarpOp::multiply_tf32, d, a, b, kw_line);
}
KW_INLINE void __kw_sim_mma_m16n8k8_tf32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], KW_LINE) {
  kw_sim_multiply(kw_sim::WarpOp::multiply_tf32, d, a, b, kw_line);
}

KW_INLINE void __kw_sim_cp_async_16(void* shared, const void* global, int source_bytes, KW_LINE) {
  kw_sim_copy_async(shared, global, 16, source_bytes, kw_line);
}
KW_INLINE void __kw_sim_cp_async_8(void* shared, const void* global, int source_bytes, KW_LINE) {
  kw_sim_copy_async(shared, global, 8, source_bytes, kw_line);
}
KW_INLINE void __kw_sim_cp_async_4(void* shared, const void* global, int source_bytes, KW_LINE) {
  kw_sim_copy_async(shared, global, 4, source_bytes, kw_line);
}
KW_INLINE void __kw_sim_cp_async_commit() { kw_sim_commit_copies(); }
template <int Groups>
KW_INLINE void __kw_sim_cp_async_wait_group(KW_LINE) {
  kw_sim_wait_for_copies(Groups, kw_line);
}
KW_INLINE void __kw_sim_cp_async_wait_all(KW_LINE) { kw_sim_wait_for_copies(-1, kw_line); }

// cuda_pipeline.h
KW_INLINE void __pipeline_memcpy_async(void* shared, const void* global, size_t bytes, size_t zeros = 0, KW_LINE) {
  kw_sim_copy_async(shared, global, static_cast<int>(bytes), static_cast<int>(bytes - zeros), kw_line);
}
KW_INLINE void __pipeline_commit() { kw_sim_commit_copies(); }
KW_INLINE void __pipeline_wait_prior(size_t groups, KW_LINE) {
  kw_sim_wait_for_copies(static_cast<int>(groups), kw_line);
}
