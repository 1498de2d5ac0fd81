#include "codegen/attention_cuda_tensor_cores.hpp"

#include <fmt/format.h>

#include <charconv>

#include "codegen/attention_cuda_mma_source.hpp"
#include "codegen/attention_cuda_text.hpp"
#include "codegen/source_language.hpp"

namespace kw {
namespace {

constexpr SourceLanguage k_cuda = SourceLanguage::cuda;

constexpr const char* k_store_row = R"(// A row whose keys were all masked has no weights, and its output is zero.
const float factor = sum > 0.0f ? 1.0f / sum : 0.0f;
auto* to = O + (query_head * Sq + row) * VALUE_DIM;
#pragma unroll
for (int j = 0; j < VALUE_TILES; ++j)
  store_pair(to, 8 * j + thread_key, out[j][2 * r] * factor, out[j][2 * r + 1] * factor);)";

constexpr const char* k_store_part = R"(const long place = (query_head * Sq + row) * parts + part;
if (sum > 0.0f) {
  #pragma unroll
  for (int j = 0; j < VALUE_TILES; ++j)
    store_pair(part_values + place * VALUE_DIM, 8 * j + thread_key, out[j][2 * r], out[j][2 * r + 1]);
}
if (thread_key == 0) *(float2*)(part_sums + 2 * place) = make_float2(peak[r], sum);)";

/// Of results, or of parts in f32 that "merge" makes into results.
void fill_stores(const Problem& problem, bool split_keys, Fillings& fillings) {
  const DType dtype = split_keys ? DType::f32 : problem.attention()->dtype;
  std::string two = "*(float2*)(row + d) = make_float2(first, second);";
  if (dtype != DType::f32) {
    const Cuda16BitFloat& type = cuda_16_bit_float(dtype);
    two = fmt::format("*({}*)(row + d) = {}(first, second);", type.pair, type.pair_from_floats);
  }
  fillings.emplace_back("stored", element_type(dtype, k_cuda));
  fillings.emplace_back("store_row", split_keys ? k_store_part : k_store_row);
  fillings.emplace_back("merge", split_keys ? "\n" + merge_source(problem, k_cuda) : "");
  fillings.emplace_back("store_two", two);
  fillings.emplace_back("store_first", store_text(dtype, "row", "d", "first", k_cuda));
  fillings.emplace_back("store_second", store_text(dtype, "row", "d + 1", "second", k_cuda));
}

}  // namespace

std::vector<Tunable> tensor_core_choices() {
  std::vector<Tunable> choices = cuda_mask_choices();
  for (Tunable& choice : cuda_decode_choices()) choices.push_back(std::move(choice));
  return choices;
}

Bundle tensor_core_bundle(const Problem& problem, const IntBindings& structure, const MmaShape& shape,
                          const TensorCoreParts& parts) {
  const CudaAttention attention(problem, parts.choices, structure,
                                {shape.rows, shape.keys, fmt::format("32 * {}", shape.warps),
                                 "float (&scores)[SCORE_TILES][4]", "c / 2 * 8 + c % 2"});
  Fillings fillings = attention.fillings(parts.generator, parts.notes);
  fillings.emplace_back("next_ahead", attention.next_needed("ahead"));
  fillings.insert(fillings.end(), parts.products.begin(), parts.products.end());
  const DType dtype = problem.attention()->dtype;
  fillings.emplace_back("zero",
                        dtype == DType::f32 ? "0.0f" : fmt::format("{}(0.0f)", cuda_16_bit_float(dtype).from_float));
  fill_stores(problem, attention.plan().split_keys, fillings);
  std::string loop = fill(parts.loop, fillings);
  loop.pop_back();  // the template it goes into ends the line
  fillings.emplace_back("loop", loop);
  Bundle bundle = attention.bundle(parts.generator, shape.shared_bytes);
  bundle.source = fill(k_attention_cuda_mma_source, fillings);
  for (const Definition& define :
       {Definition{"BLOCK_WARPS", shape.warps}, Definition{"PANEL_KEYS", shape.keys},
        Definition{"HEAD_PAD", shape.head_pad}, Definition{"HEAD_STRIDE", shape.head_stride},
        Definition{"VALUE_PAD", shape.value_pad}, Definition{"VALUE_STRIDE", shape.value_stride}})
    bundle.defines.push_back(define);
  return bundle;
}

int arch_number(const DeviceFacts& device) {
  int number = 0;
  const std::string arch = device.gpu ? device.gpu->arch : "";
  if (arch.starts_with("sm_")) std::from_chars(arch.data() + 3, arch.data() + arch.size(), number);
  return number;
}

}  // namespace kw
