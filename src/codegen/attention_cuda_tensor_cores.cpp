#include "codegen/attention_cuda_tensor_cores.hpp"

#include <fmt/format.h>

#include <charconv>

#include "codegen/attention_cuda_mma_source.hpp"
#include "codegen/attention_cuda_text.hpp"
#include "codegen/source_language.hpp"

namespace kw {
namespace {

constexpr SourceLanguage k_cuda = SourceLanguage::cuda;

void fill_stores(DType dtype, Fillings& fillings) {
  std::string zero = "0.0f", two = "*(float2*)(row + d) = make_float2(first, second);";
  if (dtype != DType::f32) {
    const Cuda16BitFloat& type = cuda_16_bit_float(dtype);
    zero = fmt::format("{}(0.0f)", type.from_float);
    two = fmt::format("*({}*)(row + d) = {}(first, second);", type.pair, type.pair_from_floats);
  }
  fillings.emplace_back("zero", zero);
  fillings.emplace_back("store_two", two);
  fillings.emplace_back("store_first", store_text(dtype, "row", "d", "first", k_cuda));
  fillings.emplace_back("store_second", store_text(dtype, "row", "d + 1", "second", k_cuda));
}

}  // namespace

Bundle tensor_core_bundle(const Problem& problem, const IntBindings& structure, const MmaShape& shape,
                          const TensorCoreParts& parts) {
  const CudaAttention attention(problem, parts.choices, structure,
                                {shape.rows, shape.keys, fmt::format("32 * {}", shape.warps),
                                 "float (&scores)[SCORE_TILES][4]", "c / 2 * 8 + c % 2"});
  Fillings fillings = attention.fillings(parts.generator, parts.notes);
  fillings.emplace_back("next_ahead", attention.next_needed("ahead"));
  fillings.insert(fillings.end(), parts.products.begin(), parts.products.end());
  fill_stores(problem.attention()->dtype, fillings);
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
