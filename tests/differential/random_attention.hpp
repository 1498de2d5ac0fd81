#pragma once
// Random attention problems for differential testing: mods drawn from the grammar of the mod language, captured
// tensors, shapes and a kernel's structure and tile, as data that can be made smaller while it still fails.

#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "problem/problem.hpp"
#include "tensor/int_expr.hpp"

namespace kw {

/// A term of the mod language: text with a hole "{}" for each child.
struct Term {
  enum class Type : std::uint8_t { boolean, integer, real, score };
  Type type = Type::integer;
  std::string text;
  std::vector<Term> children;
};
[[nodiscard]] std::string render(const Term& term);

struct RandomShape {
  std::int64_t B = 1, Hkv = 1, group = 1, Sq = 1, Skv = 1;  // NOLINT(readability-identifier-naming): the axes' names
};

/// One program: everything that one build serves, with several shapes. Each (program, shape) is one case.
struct RandomAttention {
  std::string dtype = "f32";
  bool lse = false;
  std::int64_t D = 16, Dv = 16;  // NOLINT(readability-identifier-naming)
  std::vector<Term> score_mod;   ///< none or one, of type score
  std::vector<Term> mask_mod;    ///< none or one, of type boolean
  std::vector<RandomShape> shapes;
  std::string style;             ///< under test; drawn when it is empty
  IntBindings assignment;        ///< structure and tunables of the style under test; what is missing takes its default
  std::uint64_t style_seed = 0;  ///< draws the assignment when it is empty
  std::uint64_t data_seed = 0;

  [[nodiscard]] std::string to_toml() const;
};

[[nodiscard]] RandomAttention draw_attention(Rng& rng, int shapes);

/// Smaller variants to try, boldest first: fewer shapes, no mod, a subterm in place of its term, smaller extents,
/// defaults in place of assigned tunables.
[[nodiscard]] std::vector<RandomAttention> smaller(const RandomAttention& program);

}  // namespace kw
