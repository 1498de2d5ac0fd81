// Attention for any GPU without tensor cores' help: f32 multiply-adds on register tiles that are fed from shared
// memory, online softmax. Sq, Skv and the head counts are arguments, so one build serves every workload with the same
// head dimensions.
#include <fmt/format.h>

#include "language/kernel_texts.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/cuda/simt_shape.hpp"
#include "operators/attention/kernels/cuda/styles.hpp"
#include "operators/attention/kernels/cuda/text.hpp"

namespace kw {
namespace {

constexpr const char* k_simt_generator = "simt 2";
constexpr const char* k_simt_file = "attention/simt.cu";

constexpr const char* k_store_floats = "*(float4*)(row + d) = four;";

/// A section about pairs of f16 or bf16.
std::string of_pairs(const char* section, DType dtype, Dialect dialect) {
  const Cuda16BitFloat& type = cuda_16_bit_float(dtype, dialect);
  return fill_lines(
      kernel_text(k_simt_file, section),
      {{"pair", type.pair}, {"pair_from_floats", type.pair_from_floats}, {"pair_to_floats", type.pair_to_floats}});
}

void fill_tensors(DType dtype, Dialect dialect, Fillings& fillings) {
  const bool narrow = is_16_bit_float(dtype);
  fillings.emplace_back("load_four",
                        narrow ? of_pairs("load_pairs", dtype, dialect) : "return *(const float4*)(row + d);");
  fillings.emplace_back("store_four", narrow ? of_pairs("store_pairs", dtype, dialect) : k_store_floats);
  struct Element {
    const char *load, *store, *place, *value;
  };
  constexpr Element k_elements[] = {{"load_x", "store_x", "d", "four.x"},
                                    {"load_y", "store_y", "d + 1", "four.y"},
                                    {"load_z", "store_z", "d + 2", "four.z"},
                                    {"load_w", "store_w", "d + 3", "four.w"}};
  for (const Element& element : k_elements) {
    fillings.emplace_back(element.load, element_text(dtype, "row", element.place, dialect));
    fillings.emplace_back(element.store, store_text(dtype, "row", element.place, element.value, dialect));
  }
}

}  // namespace

std::vector<Tunable> structure_attention_gpu_simt() {
  return cuda_mask_choices();
}

Result<Bundle> emit_attention_gpu_simt(Dialect dialect, const Problem& problem, const DeviceFacts& device,
                                       const IntBindings& structure) {
  KW_TRY(const AttentionSpec* attention, float_attention(problem, "simt"));
  const std::vector<Tunable> choices = structure_attention_gpu_simt();
  KW_TRY_VOID(check_choices("simt", choices, structure));
  const SimtShape shape = simt_shape(problem, {});
  const CudaAttention parts(
      problem, choices, structure,
      {shape.rows, shape.keys, "LANES * TEAMS", "float (&scores)[THREAD_ROWS][THREAD_KEYS]", "c * LANES"}, dialect);
  Fillings fillings = parts.fillings(
      k_simt_generator,
      {"How: a block takes TEAMS * ROWS queries through the keys in panels of LANES * COLUMNS, with K, V, Q "
       "and\nthe probabilities in shared memory and f32 register tiles of ROWS x COLUMNS scores per thread."});
  fill_tensors(attention->dtype, dialect, fillings);
  Bundle bundle = parts.bundle(k_simt_generator, shape.shared_bytes);
  bundle.source = fill(kernel_text(k_simt_file, "kernel"), fillings);
  bundle.defines.push_back({"THREAD_ROWS", shape.thread_rows});
  bundle.defines.push_back({"THREAD_KEYS", shape.thread_keys});
  bundle.defines.push_back({"HEAD_STRIDE", shape.head_stride});
  bundle.defines.push_back({"VALUE_STRIDE", shape.value_stride});
  bundle.tunables = simt_tunables(problem, device);
  bundle.constraints = simt_constraints(problem);
  return bundle;
}

}  // namespace kw
