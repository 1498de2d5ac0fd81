#pragma once
// The signature of a PyTorch operator, written as PyTorch's documentation writes it:
//   "Tensor input, Tensor? bias=None, int[2] stride=1, float eps=1e-05, str reduction='mean'"
// Types: Tensor; Operand (a tensor or a number); Tensor[]; int; int[], int[n] (one integer stands for n of them);
// int[*] (one integer stands for a list of one); int... (also given as separate positional arguments); padding[n]
// (int[n], or a text); OrderOfNorm (a number, or a text); float; number (integer or float, kept as given); bool; str;
// dtype. With '?' it may be None.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/graph/graph.hpp"

namespace kw {

enum class SchemaType : std::uint8_t {
  tensor,
  operand,
  tensors,
  integer,
  integers,
  real,
  number,
  boolean,
  text,
  dtype
};

struct SchemaParameter {
  std::string name;
  SchemaType type = SchemaType::tensor;
  bool optional = false;                 ///< may be None
  bool variadic = false;                 ///< integers that may be given as separate arguments
  bool or_text = false;                  ///< a text may stand for it
  std::size_t repeat = 0;                ///< integers: how often a single one counts; 0 where it may not stand alone
  std::optional<ArgumentValue> initial;  ///< absent where it must be given

  [[nodiscard]] bool is_tensor() const {
    return type == SchemaType::tensor || type == SchemaType::operand || type == SchemaType::tensors;
  }
};

/// `text` is one of our own tables; a mistake in it is a defect.
[[nodiscard]] std::vector<SchemaParameter> parse_schema(std::string_view text);

/// An argument as the reader found it.
struct GivenArgument {
  std::string keyword;  ///< empty for a positional one
  ArgumentValue value;
  SourcePlace where;
};

/// Puts arguments to their parameters and converts what PyTorch converts. `shown` is the function as the user wrote it.
/// errc::program_call where they do not fit.
[[nodiscard]] Result<std::vector<Argument>> bind_arguments(const std::vector<SchemaParameter>& schema,
                                                           const std::vector<GivenArgument>& given,
                                                           const std::string& shown, const SourcePlace& where);

/// Whether both are the same, a single integer the same as a list of it.
[[nodiscard]] bool same_value(const ArgumentValue& a, const ArgumentValue& b);
/// As Python would print it: "[1, 2]", "None", "'mean'", "torch.float32".
[[nodiscard]] std::string argument_text(const ArgumentValue& value);
/// "a tensor", "an integer", ...
[[nodiscard]] std::string_view argument_kind(const ArgumentValue& value);

}  // namespace kw
