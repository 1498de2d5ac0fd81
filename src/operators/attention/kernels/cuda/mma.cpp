// Attention on tensor cores through mma.sync, for sm_80 and later: scores and probabilities never leave the registers,
// keys and values come through a ring of tiles that is filled by asynchronous copies. f16 and bf16 as they are; f32 as
// two tf32 numbers each, three products for one, because a single tf32 product errs by 2^-11 and would not pass for
// f32.
//
// The style for wgmma is the same text with products and a layout of tiles of its own: a warp of a warpgroup holds the
// same rows and columns of sums. A style for TMA would have its own copies as well.
#include <fmt/format.h>

#include "codegen/tensor_products.hpp"
#include "hardware/gpu_arch.hpp"
#include "language/kernel_texts.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/cuda/mma_shape.hpp"
#include "operators/attention/kernels/cuda/styles.hpp"
#include "operators/attention/kernels/cuda/tensor_cores.hpp"
#include "operators/attention/kernels/cuda/text.hpp"

namespace kw {
namespace {

constexpr const char* k_mma_generator = "mma 3";
constexpr const char* k_mma_file = "attention/mma.cu";

Result<void> require_tensor_cores(const Problem& problem, const DeviceFacts& device) {
  constexpr int k_first = 80;
  const int arch = arch_number(device);
  if (arch == 0 || arch >= k_first) return {};
  Error error{
      errc::codegen_unsupported,
      fmt::format(
          "style \"mma\" needs cp.async and the matrix instructions of sm_80, and {} is {}; \"{}\" was asked for",
          device.name, device.gpu->arch, problem.name)};
  error.hint = "use style \"simt\"";
  return fail(std::move(error));
}

/// Instructions and products for f16 or bf16.
std::string products_of_16_bits(DType dtype) {
  const Cuda16BitFloat& type = cuda_16_bit_float(dtype);
  const char* const element = element_type(dtype, cuda_dialect());
  const auto load = [&](const char* function, const char* trans) {
    return fill(kernel_text(k_mma_file, "load_matrices"),
                {{"function", function},
                 {"element", element},
                 {"sim_trans", *trans != '\0' ? fmt::format("_{}", trans) : ""},
                 {"trans", *trans != '\0' ? fmt::format(".{}", trans) : ""}});
  };
  return fill(kernel_text(k_mma_file, "products_16_bit"), {{"load_matrices", load("load_matrices", "")},
                                                           {"load_transposed", load("load_transposed", "trans")},
                                                           {"element", element},
                                                           {"type", type.name},
                                                           {"pair", type.pair},
                                                           {"pair_from_floats", type.pair_from_floats}});
}

void fill_products(DType dtype, Fillings& fillings) {
  const bool narrow = is_16_bit_float(dtype);
  fillings.emplace_back("products",
                        narrow ? products_of_16_bits(dtype)
                               : fill(kernel_text(k_mma_file, "products_f32"), {{"split_products", tf32_products()}}));
  fillings.emplace_back("chunk_offset", "chunk_offset<PAD, STRIDE>(row, chunk)");
  fillings.emplace_back("tiles_begin", "shared_memory");
  fillings.emplace_back("resident", "1");
  fillings.emplace_back("hold_query", narrow ? fill_lines(kernel_text(k_mma_file, "hold_query")) : "");
  fillings.emplace_back(
      "dot_products", narrow ? "dot_products(query, queries, 16 * warp, keys + stage * BN * HEAD_STRIDE, lane, scores);"
                             : "dot_products(queries + 16 * warp * HEAD_STRIDE, keys + stage * BN * HEAD_STRIDE, lane, "
                               "scores);");
}

std::vector<std::string> notes(DType dtype) {
  std::vector<std::string> notes = {
      "How: a warp takes 16 queries through the keys in panels of BN, with mma.sync; scores and probabilities stay in\n"
      "registers, and keys and values are copied STAGES - 1 panels ahead of their use."};
  if (dtype == DType::f32)
    notes.emplace_back(
        "Operands are split into two tf32 numbers each; three of the four products of their parts give f32.");
  return notes;
}

}  // namespace

std::vector<Tunable> structure_attention_cuda_mma() {
  return tensor_core_choices();
}

Result<Bundle> emit_attention_cuda_mma(const Problem& problem, const DeviceFacts& device,
                                       const IntBindings& structure) {
  KW_TRY(const AttentionSpec* attention, float_attention(problem, "mma"));
  const std::vector<Tunable> choices = structure_attention_cuda_mma();
  KW_TRY_VOID(check_choices("mma", choices, structure));
  KW_TRY_VOID(require_tensor_cores(problem, device));
  const MmaShape shape = mma_shape(problem, {});
  Fillings products;
  fill_products(attention->dtype, products);
  Bundle bundle = tensor_core_bundle(
      problem, structure, shape, {k_mma_generator, choices, notes(attention->dtype), k_mma_file, std::move(products)});
  if (is_16_bit_float(attention->dtype)) bundle.defines.push_back({"QUERY_TILES", shape.query_tiles});
  bundle.tunables = mma_tunables(problem, device, structure);
  bundle.constraints = mma_constraints(problem);
  return bundle;
}

}  // namespace kw
