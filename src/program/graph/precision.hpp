#pragma once
// How exactly a program's products are to be computed: what a user may give up for speed, and no more.

#include <cstdint>
#include <optional>
#include <string_view>

#include "program/graph/graph.hpp"

namespace kw {

/// Only factors of f32 are concerned. A kernel may always be more exact.
enum class Precision : std::uint8_t {
  strict,             ///< as an honest kernel of f32
  tf32_convolutions,  ///< factors of convolutions may be rounded to tf32; PyTorch does that unless it is told not to
  tf32,               ///< those of matrix products too; what PyTorch does after set_float32_matmul_precision("high")
};
[[nodiscard]] std::string_view to_string(Precision precision);
/// By its name.
[[nodiscard]] std::optional<Precision> precision_named(std::string_view name);
/// For a hint: every name in quotation marks.
[[nodiscard]] std::string_view precision_names();

/// Whether factors of the call's products may be rounded to tf32. Products of a matrix and a vector stay, as in
/// PyTorch.
[[nodiscard]] bool rounds_factors(Precision precision, const Node& node);
/// Of any of the graph's calls.
[[nodiscard]] bool rounds_factors(Precision precision, const Graph& graph);

/// The nearest number with 10 bits behind the point, ties away from zero: what a tensor core reads of a tf32 number.
[[nodiscard]] float rounded_to_tf32(float value);

/// One sentence for people and models.
[[nodiscard]] std::string_view words_for(Precision precision);

}  // namespace kw
