#pragma once
// Pieces of text that the kernels of contractions share: indices from a flat number, places as sums, guards, arguments.

#include <set>
#include <string>
#include <vector>

#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/kernel_scope.hpp"
#include "record/bundle.hpp"

namespace kw {

/// The words of a list.
[[nodiscard]] std::vector<std::string> names_in(const char* list);

/// The arguments of one kernel, in the source and in the bundle.
class ContractArguments {
 public:
  explicit ContractArguments(Dialect dialect) : dialect_(dialect) {}
  void add(DType dtype, bool writable, const std::string& name, const std::string& argument);
  /// The buffers that the scope's text has loaded, but for `except`.
  void add_loaded(const KernelScope& scope, const std::vector<KernelBuffer>& buffers, std::size_t except);
  void add_integers(const KernelScope& scope);
  /// "void name(...)"
  [[nodiscard]] std::string signature(const std::string& kernel) const;
  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  Dialect dialect_;
  std::vector<std::string> declarations_;
  std::vector<std::string> arguments_;
};

/// Statements that name the indices along `axes` of the `flat`th element, the last axis fastest; those in `used`.
[[nodiscard]] std::vector<std::string> index_statements(KernelScope& scope, const StageAxes& axes,
                                                        const std::string& flat, const std::set<std::string>& used);

/// The part of the address that `axes` decide, as a long; with `start` its constant and terms too. "0" for nothing.
[[nodiscard]] std::string address_text(KernelScope& scope, const AffineIndex& address, const StageAxes& axes,
                                       bool start);

/// The number of the element that the indices of `axes` name, the last one fastest, times `unit`; "0" for no axes.
[[nodiscard]] std::string number_text(KernelScope& scope, const StageAxes& axes, const Extent& unit);

/// The conjunction; empty for none.
[[nodiscard]] std::string condition_text(KernelScope& scope, const std::vector<StageExpr>& guards);

/// A factor's element, and a zero where a guard does not hold.
[[nodiscard]] std::string guarded_text(KernelScope& scope, const StageExpr& element,
                                       const std::vector<StageExpr>& guards);

/// Loops over all of `axes`, as a line each: "for (int c = 0; c < 64; ++c)". The first one goes from begin to end.
/// The last one is unrolled so many times.
[[nodiscard]] std::string loops_text(KernelScope& scope, const StageAxes& axes, int unrolled = 1);

/// What becomes of a finished sum that is called `sum`.
struct StoredSum {
  std::string guard;         ///< a condition: whether the output has such an element; empty: always
  std::string values;        ///< statements before the store
  std::string store;         ///< a statement
  std::string value, place;  ///< what it stores where: expressions
};
/// `place`: of the element in `out`, where the text around knows it.
[[nodiscard]] StoredSum stored_sum(KernelScope& scope, const Contraction& contraction, const KernelBuffer& out,
                                   const std::string& sum, const std::string& place = "");
/// The place of the sum's element in the output.
[[nodiscard]] std::string stored_place(KernelScope& scope, const Contraction& contraction);
/// The same by the axes of the contraction; absent where it is no sum over them.
[[nodiscard]] std::optional<AffineIndex> stored_address(const Contraction& contraction);

/// A stage that only has axes, for the scope of a kernel over them.
[[nodiscard]] Stage stage_over(const StageAxes& axes, const StageAxes& inner);
[[nodiscard]] StageAxes joined_axes(StageAxes axes, const StageAxes& more);
/// Axes whose indices an address needs.
[[nodiscard]] std::set<std::string> axes_in(const AffineIndex& address);

/// The source with lines that are too long for a page broken behind commas and operators.
[[nodiscard]] std::string with_short_lines(const std::string& source);

/// An expression of a bundle, in parentheses where it is more than a word or a call.
[[nodiscard]] std::string bundle_operand(const Extent& extent);

}  // namespace kw
