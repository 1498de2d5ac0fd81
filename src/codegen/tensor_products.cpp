#include "codegen/tensor_products.hpp"

#include <fmt/format.h>

#include "codegen/dialect.hpp"
#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"

namespace kw {
namespace {

constexpr const char* k_tf32_texts = "shared/tf32.cu";
constexpr const char* k_wgmma_texts = "shared/wgmma.cu";

/// "%0, %1, ..., %N", broken into lines of an asm statement's string.
std::string wgmma_operands(int count) {
  constexpr int k_per_line = 16;
  std::string text;
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += i % k_per_line == 0 ? ", \"\n      \"" : ", ";
    text += fmt::format("%{}", i);
  }
  return text;
}

std::string wgmma_accumulators(int columns) {
  constexpr int k_per_line = 8;
  std::string text;
  for (int tile = 0; tile < columns / 8; ++tile) {
    if (tile > 0) text += tile % k_per_line == 0 ? ",\n        " : ", ";
    text += fmt::format("SUMS({})", tile);
  }
  return text;
}

std::string wgmma_function(const char* section, int columns, DType dtype) {
  const int registers = columns / 2;
  const auto operand = [&](int i) { return fmt::format("{}", registers + i); };
  const bool tf32 = dtype == DType::f32;
  return fill(kernel_text(k_wgmma_texts, section),
              {{"columns", fmt::format("{}", columns)},
               {"tiles", fmt::format("{}", columns / 8)},
               {"element", element_type(dtype, cuda_dialect())},
               {"function", tf32 ? "multiply_places" : "multiply_half_places"},
               {"type", tf32 ? "tf32" : std::string(cuda_16_bit_float(dtype).name)},
               {"steps", tf32 ? "8" : "16"},
               // Only 16-bit operands may be summed over what is not contiguous.
               {"majors", tf32 ? "" : ", 0, 0"},
               {"operands", wgmma_operands(registers)},
               {"accumulators", wgmma_accumulators(columns)},
               {"a", operand(0)},
               {"b", operand(1)},
               {"add", operand(2)},
               {"a2", operand(2)},
               {"a3", operand(3)},
               {"rows", operand(4)},
               {"add_held", operand(5)}});
}

}  // namespace

std::string tf32_split() {
  return fill_lines(kernel_text(k_tf32_texts, "split"));
}

std::string tf32_products() {
  return tf32_split() + "\n\n" + tf32_multiply_add();
}

std::string tf32_rounded() {
  return fill_lines(kernel_text(k_tf32_texts, "rounded"));
}

std::string tf32_multiply_add() {
  return fill_lines(kernel_text(k_tf32_texts, "multiply_add"));
}

std::string asynchronous_copies() {
  return fill_lines(kernel_text("shared/copies.cu", "asynchronous_copies"));
}

std::string tensor_copies() {
  return fill_lines(kernel_text("shared/tensor_copies.cu", "tensor_copies"));
}

std::string wgmma_groups() {
  return fill_lines(kernel_text(k_wgmma_texts, "asynchronous_products"));
}

std::string wgmma_multiply(int columns, DType dtype) {
  return wgmma_function("multiply", columns, dtype);
}

std::string wgmma_places() {
  return fill_lines(kernel_text(k_wgmma_texts, "places"));
}

std::string wgmma_multiply_places(int columns, DType dtype) {
  return wgmma_function("multiply_places", columns, dtype);
}

std::string wgmma_multiply_columns(int columns, DType dtype) {
  return wgmma_function("multiply_columns", columns, dtype);
}

std::string wgmma_multiply_by_columns(int columns, DType dtype) {
  return wgmma_function("multiply_by_columns", columns, dtype);
}

}  // namespace kw
