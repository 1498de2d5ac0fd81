// Attention for any GPU without tensor cores' help: f32 multiply-adds on register tiles that are fed from shared
// memory, online softmax. Sq, Skv and the head counts are arguments, so one build serves every workload with the same
// head dimensions.
#include <fmt/format.h>

#include "codegen/attention_cuda.hpp"
#include "codegen/attention_cuda_simt_shape.hpp"
#include "codegen/attention_cuda_simt_source.hpp"
#include "codegen/attention_cuda_text.hpp"

namespace kw {
namespace {

constexpr const char* k_generator = "simt 1";
constexpr SourceLanguage k_cuda = SourceLanguage::cuda;

constexpr const char* k_store_floats = R"(  if (VALUE_DIM % 4 == 0 && d < VALUE_DIM) {
    *(float4*)(row + d) = four;
    return;
  }
  if (d < VALUE_DIM) row[d] = four.x;
  if (d + 1 < VALUE_DIM) row[d + 1] = four.y;
  if (d + 2 < VALUE_DIM) row[d + 2] = four.z;
  if (d + 3 < VALUE_DIM) row[d + 3] = four.w;)";

constexpr const char* k_store_halves = R"(  if (VALUE_DIM % 4 == 0 && d < VALUE_DIM) {
    *(__half2*)(row + d) = __floats2half2_rn(four.x, four.y);
    *(__half2*)(row + d + 2) = __floats2half2_rn(four.z, four.w);
    return;
  }
  if (d < VALUE_DIM) row[d] = __float2half(four.x);
  if (d + 1 < VALUE_DIM) row[d + 1] = __float2half(four.y);
  if (d + 2 < VALUE_DIM) row[d + 2] = __float2half(four.z);
  if (d + 3 < VALUE_DIM) row[d + 3] = __float2half(four.w);)";

constexpr const char* k_load_halves = R"({
    const float2 low = __half22float2(*(const __half2*)(row + d));
    const float2 high = __half22float2(*(const __half2*)(row + d + 2));
    return make_float4(low.x, low.y, high.x, high.y);
  })";

void fill_tensors(DType dtype, Fillings& fillings) {
  const bool half = dtype == DType::f16;
  fillings.emplace_back("load_four", half ? k_load_halves : "return *(const float4*)(row + d);");
  fillings.emplace_back("load_x", element_text(dtype, "row", "d", k_cuda));
  fillings.emplace_back("load_y", element_text(dtype, "row", "d + 1", k_cuda));
  fillings.emplace_back("load_z", element_text(dtype, "row", "d + 2", k_cuda));
  fillings.emplace_back("load_w", element_text(dtype, "row", "d + 3", k_cuda));
  fillings.emplace_back("store_four", half ? k_store_halves : k_store_floats);
}

}  // namespace

std::vector<Tunable> structure_attention_cuda_simt() {
  return cuda_mask_choices();
}

Result<Bundle> emit_attention_cuda_simt(const Problem& problem, const DeviceFacts& device,
                                        const IntBindings& structure) {
  KW_TRY(const AttentionSpec* attention, float_attention(problem, "simt"));
  const std::vector<Tunable> choices = structure_attention_cuda_simt();
  KW_TRY_VOID(check_choices("simt", choices, structure));
  const SimtShape shape = simt_shape(problem, {});
  const CudaAttention parts(
      problem, choices, structure,
      {shape.rows, shape.keys, "LANES * TEAMS", "float (&scores)[THREAD_ROWS][THREAD_KEYS]", "c * LANES"});
  Fillings fillings = parts.fillings(
      k_generator,
      {"How: a block takes TEAMS * ROWS queries through the keys in panels of LANES * COLUMNS, with K, V, Q "
       "and\nthe weights in shared memory and f32 register tiles of ROWS x COLUMNS scores per thread."});
  fill_tensors(attention->dtype, fillings);
  Bundle bundle = parts.bundle(k_generator, shape.shared_bytes);
  bundle.source = fill(k_attention_cuda_simt_source, fillings);
  bundle.defines.push_back({"THREAD_ROWS", shape.thread_rows});
  bundle.defines.push_back({"THREAD_KEYS", shape.thread_keys});
  bundle.defines.push_back({"HEAD_STRIDE", shape.head_stride});
  bundle.defines.push_back({"VALUE_STRIDE", shape.value_stride});
  bundle.tunables = simt_tunables(problem, device);
  bundle.constraints = simt_constraints(problem, device);
  return bundle;
}

}  // namespace kw
