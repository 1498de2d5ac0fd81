#pragma once
// Products of a warpgroup, four warps whose first is a multiple of four, as functions (see blocks.cuh):
//
//   __kw_sim_wgmma_m64k16_f16_f32(d, a, b, add)
//       wgmma.mma_async.sync.aligned.m64nNk16.f32.f16.f16 with N = 8 * Tiles and both operands in shared memory, summed
//       over what is contiguous: d = a * b, plus d where `add` holds. `a` and `b` are where the descriptors' addresses
//       point: rows of 128 bytes, 1024 bytes from 8 rows to the next 8, exchanged by a swizzle of 128 bytes.
//   __kw_sim_wgmma_trans_m64k16_f16_f32(d, a, b, leading_bytes)
//       d = a * b + d with `a` in registers and rows of `b` summed over (imm-trans-b = 1): 64 columns a row, the next
//       64 at leading_bytes.
//   __kw_sim_wgmma_columns_m64k16_f16_f32(d, a, b, leading_bytes)
//       d = a * b + d with both operands in shared memory, `a` as in the first one and `b` as in the second
//   __kw_sim_wgmma_..._bf16_f32               all for bfloat16
//   __kw_sim_wgmma_m64k8_tf32_f32(d, a, b, add)
//       wgmma.mma_async.sync.aligned.m64nNk8.f32.tf32.tf32, as the first one with 8 steps of 4 bytes
//   __kw_sim_wgmma_places_m64k8_tf32_f32(d, a, a_leading_bytes, a_stride_bytes, b, b_leading_bytes, b_stride_bytes, add)
//       the same with descriptors that have no swizzle: 16 bytes of each of 8 rows behind one another, the next 16 bytes
//       of these rows at leading_bytes, the next 8 rows at stride_bytes; all of them multiples of 16
//   __kw_sim_wgmma_places_m64k16_f16_f32(...)
//       the same with 16 steps of f16
//
//   __kw_sim_wgmma_commit_group(), __kw_sim_wgmma_wait_group<N>()
//
// A product is computed when it is waited for and no sooner, from what shared memory holds then; until then its sums
// are NaN. What a kernel gets wrong about wgmma.fence is not found here.

/// `bytes`, two or four, at byte `offset` of a tile, where the swizzle puts them: bits 4 to 6 of an address are
/// exchanged by its bits 7 to 9.
KW_INLINE unsigned kw_sim_swizzled(const void* tile, size_t offset, unsigned bytes, int line) {
  size_t address = reinterpret_cast<size_t>(tile) + offset;
  address ^= (address >> 7 & 7) << 4;
  const auto* element = reinterpret_cast<const unsigned short*>(address);
  kw_sim_access(element, bytes, kw_sim::k_matrix_unit, line);
  return kw_sim_peek(element) | (bytes == 4 ? static_cast<unsigned>(kw_sim_peek(element + 1)) << 16 : 0);
}
KW_INLINE void kw_sim_check_tile(const void* tile, int line) {
  if (reinterpret_cast<size_t>(tile) % 16 != 0 || reinterpret_cast<size_t>(tile) % 1024 >= 128)
    kw_sim_stop("a matrix descriptor's address must lie in the first 128 of 1024 bytes, at a multiple of 16", line);
}

/// A register of steps that are contiguous: the `k`th four bytes of a row, two elements or one of tf32.
KW_INLINE unsigned kw_sim_word_of_row(const void* tile, unsigned row, unsigned k, int line) {
  return kw_sim_swizzled(tile, size_t{row} * 128 + 4 * k, 4, line);
}
/// The same where no swizzle exchanges anything.
KW_INLINE unsigned kw_sim_word_of_places(const void* tile, const kw_sim::OperandPlaces& places, unsigned row, unsigned k,
                                         int line) {
  const auto* word = reinterpret_cast<const unsigned short*>(reinterpret_cast<size_t>(tile) +
                                                             k / 4 * places.leading_bytes +
                                                             row / 8 * places.stride_bytes + row % 8 * 16 + k % 4 * 4);
  kw_sim_access(word, 4, kw_sim::k_matrix_unit, line);
  return kw_sim_peek(word) | static_cast<unsigned>(kw_sim_peek(word + 1)) << 16;
}
KW_INLINE unsigned kw_sim_word_of_operand(const void* tile, const kw_sim::OperandPlaces& places, unsigned row, unsigned k,
                                          int line) {
  return places.stride_bytes == 0 ? kw_sim_word_of_row(tile, row, k, line)
                                  : kw_sim_word_of_places(tile, places, row, k, line);
}
KW_INLINE void kw_sim_check_places(const void* tile, size_t leading_bytes, size_t stride_bytes, int line) {
  if (reinterpret_cast<size_t>(tile) % 16 != 0 || leading_bytes % 16 != 0 || stride_bytes % 16 != 0)
    kw_sim_stop("a matrix descriptor's address and offsets must be multiples of 16", line);
  if (leading_bytes >= size_t{1} << 18 || stride_bytes >= size_t{1} << 18 || stride_bytes == 0)
    kw_sim_stop("a matrix descriptor's offset has no room for so many bytes", line);
}
/// Elements (k, column) and (k + 1, column), where rows are summed over.
KW_INLINE unsigned kw_sim_pair_of_column(const void* tile, unsigned column, unsigned k, size_t leading_bytes,
                                         int line) {
  const size_t offset = column / 64 * leading_bytes + column % 64 * 2 + size_t{k} * 128;
  return kw_sim_swizzled(tile, offset, 2, line) | kw_sim_swizzled(tile, offset + 128, 2, line) << 16;
}
KW_INLINE unsigned kw_sim_warp_of_group() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32 % 4;
}

/// A warp computes its 16 rows.
KW_INLINE void kw_sim_compute(const kw_sim::Product& product) {
  const unsigned lane = kw_sim_lane() % 32, row = 16 * kw_sim_warp_of_group() + lane / 4, k = lane % 4;
  unsigned left[4];
  for (unsigned i = 0; i < 4; ++i) {
    left[i] = product.a == nullptr ? product.registers[i]
                                   : kw_sim_word_of_operand(product.a, product.a_places, row + i % 2 * 8, k + i / 2 * 4, product.line);
  }
  for (unsigned j = 0; j < product.tiles; ++j) {
    const unsigned column = 8 * j + lane / 4;
    unsigned right[2];
    for (unsigned i = 0; i < 2; ++i) {
      right[i] = product.leading_bytes != 0
                     ? kw_sim_pair_of_column(product.b, column, 2 * k + 8 * i, product.leading_bytes, product.line)
                     : kw_sim_word_of_operand(product.b, product.b_places, column, k + 4 * i, product.line);
    }
    const unsigned operands[6] = {left[0], left[1], left[2], left[3], right[0], right[1]};
    kw_sim::WarpRequest request{product.op, 0xffffffffu, product.line, 0, 32, 24, operands, product.sums + 4 * j};
    kw_sim_warp(&request);
  }
}

#define KW_WGMMA(TYPE, STEPS, OP)                                                                             \
  template <int Tiles>                                                                                        \
  KW_INLINE void __kw_sim_wgmma_m64k##STEPS##_##TYPE##_f32(float(&d)[Tiles][4], const void* a, const void* b, \
                                                           bool add, KW_LINE) {                               \
    kw_sim_check_tile(a, kw_line);                                                                            \
    kw_sim_check_tile(b, kw_line);                                                                            \
    const kw_sim::Product product{kw_sim::WarpOp::OP, &d[0][0], Tiles, add, a, {}, b, 0, kw_line};            \
    kw_sim_defer_product(&product);                                                                           \
  }
#define KW_WGMMA_TRANS(TYPE, OP)                                                                                     \
  template <int Tiles>                                                                                               \
  KW_INLINE void __kw_sim_wgmma_trans_m64k16_##TYPE##_f32(float(&d)[Tiles][4], const unsigned(&a)[4], const void* b, \
                                                          unsigned leading_bytes, KW_LINE) {                         \
    kw_sim_check_tile(b, kw_line);                                                                                   \
    const kw_sim::Product product{kw_sim::WarpOp::OP,       &d[0][0], Tiles,         true,   nullptr,                \
                                  {a[0], a[1], a[2], a[3]}, b,        leading_bytes, kw_line};                       \
    kw_sim_defer_product(&product);                                                                                  \
  }
#define KW_WGMMA_COLUMNS(TYPE, OP)                                                                              \
  template <int Tiles>                                                                                          \
  KW_INLINE void __kw_sim_wgmma_columns_m64k16_##TYPE##_f32(float(&d)[Tiles][4], const void* a, const void* b,  \
                                                            unsigned leading_bytes, KW_LINE) {                  \
    kw_sim_check_tile(a, kw_line);                                                                              \
    kw_sim_check_tile(b, kw_line);                                                                              \
    const kw_sim::Product product{kw_sim::WarpOp::OP, &d[0][0], Tiles, true, a, {}, b, leading_bytes, kw_line}; \
    kw_sim_defer_product(&product);                                                                             \
  }
KW_WGMMA(f16, 16, multiply_f16)
KW_WGMMA(bf16, 16, multiply_bf16)
KW_WGMMA(tf32, 8, multiply_tf32)
KW_WGMMA_TRANS(f16, multiply_f16)
KW_WGMMA_TRANS(bf16, multiply_bf16)
KW_WGMMA_COLUMNS(f16, multiply_f16)
KW_WGMMA_COLUMNS(bf16, multiply_bf16)
#undef KW_WGMMA
#undef KW_WGMMA_TRANS
#undef KW_WGMMA_COLUMNS

#define KW_WGMMA_PLACES(TYPE, STEPS, OP)                                                                               \
  template <int Tiles>                                                                                                 \
  KW_INLINE void __kw_sim_wgmma_places_m64k##STEPS##_##TYPE##_f32(                                                     \
      float(&d)[Tiles][4], const void* a, size_t a_leading_bytes, size_t a_stride_bytes, const void* b,                \
      size_t b_leading_bytes, size_t b_stride_bytes, bool add, KW_LINE) {                                              \
    kw_sim_check_places(a, a_leading_bytes, a_stride_bytes, kw_line);                                                  \
    kw_sim_check_places(b, b_leading_bytes, b_stride_bytes, kw_line);                                                  \
    const kw_sim::Product product{kw_sim::WarpOp::OP, &d[0][0], Tiles, add, a, {}, b, 0, kw_line,                      \
                                  {a_leading_bytes, a_stride_bytes}, {b_leading_bytes, b_stride_bytes}};               \
    kw_sim_defer_product(&product);                                                                                    \
  }
KW_WGMMA_PLACES(tf32, 8, multiply_tf32)
KW_WGMMA_PLACES(f16, 16, multiply_f16)
#undef KW_WGMMA_PLACES

KW_INLINE void __kw_sim_wgmma_commit_group() {
  kw_sim_commit_products();
}
template <int Groups>
KW_INLINE void __kw_sim_wgmma_wait_group() {
  kw_sim::Product product;
  while (kw_sim_next_product(&product, Groups)) kw_sim_compute(product);
}
