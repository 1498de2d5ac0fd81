#include "codegen/dialect.hpp"

#include <fmt/format.h>

#include "base/result.hpp"
#include "base/text.hpp"
#include "codegen/text.hpp"

namespace kw {
namespace {

const char* function_name(ExprOp op) {
  switch (op) {
    case ExprOp::exp:
      return "exp";
    case ExprOp::exp2:
      return "exp2";
    case ExprOp::log:
      return "log";
    case ExprOp::log2:
      return "log2";
    case ExprOp::sqrt:
      return "sqrt";
    case ExprOp::rsqrt:
      return "rsqrt";
    case ExprOp::floor:
      return "floor";
    case ExprOp::tanh:
      return "tanh";
    case ExprOp::erf:
      return "erf";
    case ExprOp::sin:
      return "sin";
    case ExprOp::cos:
      return "cos";
    case ExprOp::round:
      return "rint";
    case ExprOp::fmod:
      return "fmod";
    case ExprOp::power:
      return "pow";
    case ExprOp::absolute:
      return "fabs";
    case ExprOp::minimum:
      return "min";
    case ExprOp::maximum:
      return "max";
    default:
      break;
  }
  KW_CHECK(false, "expression node {} is no function of reals", static_cast<int>(op));
  return "";
}

/// A text without line ends.
std::string filled_line(const char* text, const Fillings& fillings) {
  std::string line = fill(text, fillings);
  line.pop_back();
  return line;
}

}  // namespace

std::string target_of(Dialect dialect) {
  return std::string(dialect->language.name);
}

std::string in_dialect(std::string opencl_text, Dialect dialect) {
  replace_all(opencl_text, "static inline", dialect->function_qualifier);
  replace_all(opencl_text, "__global const", fmt::format("{}const", dialect->buffer_qualifier));
  return opencl_text;
}

const char* element_type(DType dtype, Dialect dialect) {
  switch (dtype) {
    case DType::f32:
      return "float";
    case DType::f16:
      return dialect->f16;
    case DType::bf16:
      return dialect->bf16;
    case DType::i32:
      return "int";
    case DType::boolean:
      return dialect->boolean;
  }
  return "";
}

std::string element_text(DType dtype, const std::string& buffer, const std::string& offset, Dialect dialect) {
  const std::string index = without_parentheses(offset);
  if (!is_16_bit_float(dtype)) return fmt::format("{}[{}]", buffer, index);
  return filled_line(dtype == DType::f16 ? dialect->load_f16 : dialect->load_bf16,
                     {{"buffer", buffer}, {"index", index}});
}

std::string store_text(DType dtype, const std::string& buffer, const std::string& index, const std::string& value,
                       Dialect dialect) {
  if (!is_16_bit_float(dtype)) return fmt::format("{}[{}] = {};", buffer, index, value);
  return filled_line(dtype == DType::f16 ? dialect->store_f16 : dialect->store_bf16,
                     {{"buffer", buffer}, {"index", index}, {"value", value}});
}

const Cuda16BitFloat& cuda_16_bit_float(DType dtype, Dialect dialect) {
  KW_CHECK(is_16_bit_float(dtype), "{} is no float of 16 bits", to_string(dtype));
  const Cuda16BitFloat* functions = dtype == DType::f16 ? dialect->f16_functions : dialect->bf16_functions;
  KW_CHECK(functions != nullptr, "{} has no functions of CUDA's for {}", dialect->language.name, to_string(dtype));
  return *functions;
}

std::string buffer_parameter(DType dtype, bool writable, const std::string& name, Dialect dialect) {
  return fmt::format("{}{}{}* {} {}", dialect->buffer_qualifier, writable ? "" : "const ", element_type(dtype, dialect),
                     dialect->unaliased, name);
}

std::string real_function(ExprOp op, Dialect dialect) {
  std::string name = function_name(op);
  if (!dialect->typed_functions) return name;
  if (op == ExprOp::absolute) return "fabsf";
  if (op == ExprOp::minimum || op == ExprOp::maximum) return "f" + name + "f";
  return name + "f";
}

}  // namespace kw
