#include "operators/attention/kernels/cuda/wgmma_source.hpp"

#include <fmt/format.h>

#include "codegen/dialect.hpp"
#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"

namespace kw {

namespace {

/// "%0, %1, ..., %N", broken into lines of an asm statement's string.
std::string operands(int first, int count) {
  constexpr int k_per_line = 16;
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += i % k_per_line == 0 ? ", \"\n      \"" : ", ";
    text += fmt::format("%{}", first + i);
  }
  return text;
}

std::string accumulators(int columns) {
  constexpr int k_per_line = 8;
  std::string text;
  for (int tile = 0; tile < columns / 8; ++tile) {
    if (tile > 0) text += tile % k_per_line == 0 ? ",\n        " : ", ";
    text += fmt::format("SUMS({})", tile);
  }
  return text;
}

}  // namespace

std::string wgmma_multiply(int columns, DType dtype) {
  const int registers = columns / 2;
  const auto operand = [&](int i) { return fmt::format("{}", registers + i); };
  return fill(kernel_text(k_wgmma_file, "multiply"), {{"columns", fmt::format("{}", columns)},
                                                      {"tiles", fmt::format("{}", columns / 8)},
                                                      {"element", element_type(dtype, cuda_dialect())},
                                                      {"type", cuda_16_bit_float(dtype).name},
                                                      {"operands", operands(0, registers)},
                                                      {"accumulators", accumulators(columns)},
                                                      {"a", operand(0)},
                                                      {"b", operand(1)},
                                                      {"add", operand(2)},
                                                      {"a2", operand(2)},
                                                      {"a3", operand(3)},
                                                      {"rows", operand(4)},
                                                      {"add_held", operand(5)}});
}

}  // namespace kw
