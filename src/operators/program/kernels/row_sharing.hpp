#pragma once
// How the work-items of a GPU's work-groups share rows: who has which elements of which row, and how parts of a row
// that several of them gathered become one.

#include <string>
#include <vector>

#include "operators/program/kernels/accumulator.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

enum class RowShare : std::uint8_t {
  item,   ///< a work-item has a row to itself
  warp,   ///< 8, 16 or 32 neighbouring work-items have a row, which gather by shuffles
  lanes,  ///< 32 neighbouring rows, of each some work-items that are 32 apart; where neighbouring rows are contiguous
  group,  ///< a work-group has a row
};

struct RowSharing {
  RowShare share = RowShare::group;
  Tunable threads;                ///< of a work-group
  std::string slices;             ///< work-items of a row: an expression
  std::string lanes;              ///< rows of a work-group; unused where it has one
  std::int64_t usual_slices = 1;  ///< with the tunable's default; of a warp always
  Tunable elements;               ///< how many a work-item has under way; unused where it has a row to itself

  /// Whether a work-group has several rows, so that the last one may have too few: a variable `live` says so.
  [[nodiscard]] bool many() const { return share != RowShare::group; }
};

/// How many elements of a row a work-item has under way.
[[nodiscard]] Tunable row_elements();

/// For `rows` rows of at most `longest` elements on a device of so many units. `one_number`: work-items gather one
/// number of a row at a time, such as a sum.
[[nodiscard]] RowSharing row_sharing(double rows, double longest, bool rows_are_contiguous, bool one_number,
                                     double units);

/// The variables `row`, and as far as the sharing has them `lane`, `slice` and `live`. `count` is how many rows there
/// are.
[[nodiscard]] std::string row_variables(const RowSharing& sharing, const std::string& count);

/// Arrays of shared memory that gathering uses, by the type of their elements.
class SharedArrays {
 public:
  /// Of each type as many as `state` has variables of it.
  [[nodiscard]] std::vector<std::string> named(const std::vector<Accumulator::State>& state);
  [[nodiscard]] std::string declarations(const std::string& elements) const;
  [[nodiscard]] std::size_t count() const { return types_.size(); }

 private:
  std::map<std::string, std::string> types_;  ///< by name
};

/// What the dialect calls an instruction of warps; empty where it has none.
[[nodiscard]] std::string warp_word(Dialect dialect, std::string_view name);
/// The first argument of shuffles among 32 lanes, with a comma. HIP has none: it shuffles among 64 lanes, of which each
/// half keeps to itself.
[[nodiscard]] std::string shuffle_mask(Dialect dialect);

/// Writes statements after which the accumulator's variables have the whole row in every work-item of it.
void write_gathering(BodyWriter& body, const Accumulator& accumulator, const RowSharing& sharing, Dialect dialect,
                     SharedArrays& arrays);
/// The same of a row that `lanes` neighbouring work-items of a warp share: a power of two.
void write_gathering_in_warp(BodyWriter& body, const Accumulator& accumulator, std::int64_t lanes, Dialect dialect);

}  // namespace kw
