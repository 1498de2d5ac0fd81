#include "operators/attention/kernels/cuda/tensor_cores.hpp"

#include <fmt/format.h>

#include "codegen/dialect.hpp"
#include "codegen/tensor_products.hpp"
#include "language/kernel_texts.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/cuda/text.hpp"

namespace kw {
namespace {

constexpr const char* k_tensor_core_file = "attention/tensor_cores.cu";

/// Of results, or of parts in f32 that "merge" makes into results.
void fill_stores(const Problem& problem, bool split_kv, bool natural, Fillings& fillings) {
  const DType dtype = split_kv ? DType::f32 : attention_of(problem)->dtype;
  std::string two = "*(float2*)(row + d) = make_float2(first, second);";
  if (dtype != DType::f32) {
    const Cuda16BitFloat& type = cuda_16_bit_float(dtype);
    two = fmt::format("*({}*)(row + d) = {}(first, second);", type.pair, type.pair_from_floats);
  }
  fillings.emplace_back("stored", element_type(dtype, cuda_dialect()));
  fillings.emplace_back("store_row",
                        fill_lines(kernel_text(k_tensor_core_file, split_kv ? "store_part" : "store_row")));
  fillings.emplace_back("merge", split_kv ? "\n" + merge_source(problem, cuda_dialect(), natural) : "");
  fillings.emplace_back("store_two", two);
  fillings.emplace_back("store_first", store_text(dtype, "row", "d", "first", cuda_dialect()));
  fillings.emplace_back("store_second", store_text(dtype, "row", "d + 1", "second", cuda_dialect()));
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
  fillings.emplace_back("copies", asynchronous_copies());
  fillings.emplace_back("next_ahead", attention.next_needed("ahead"));
  fillings.insert(fillings.end(), parts.products.begin(), parts.products.end());
  const DType dtype = attention_of(problem)->dtype;
  fillings.emplace_back("zero",
                        dtype == DType::f32 ? "0.0f" : fmt::format("{}(0.0f)", cuda_16_bit_float(dtype).from_float));
  fill_stores(problem, attention.plan().split_kv, attention.natural(), fillings);
  std::string loop = fill_lines(kernel_text(parts.file, "loop"), fillings);
  fillings.emplace_back("loop", std::move(loop));
  Bundle bundle = attention.bundle(parts.generator, shape.shared_bytes);
  bundle.source = fill(kernel_text(k_tensor_core_file, "kernel"), fillings);
  for (const Definition& define :
       {Definition{"BLOCK_WARPS", shape.warps}, Definition{"PANEL_KEYS", shape.keys},
        Definition{"HEAD_PAD", shape.head_pad}, Definition{"HEAD_STRIDE", shape.head_stride},
        Definition{"VALUE_PAD", shape.value_pad}, Definition{"VALUE_STRIDE", shape.value_stride}})
    bundle.defines.push_back(define);
  return bundle;
}

}  // namespace kw
