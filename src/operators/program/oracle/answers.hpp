#pragma once
// How the oracle answers an operator: a function that reads operands and computes elements, whole tensors as well as
// single elements from the same loop. The functions stand in files by theme; each file gives its rows of the table.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "operators/program/oracle/element_memo.hpp"
#include "operators/program/oracle/operand_groups.hpp"
#include "operators/program/oracle/oracle_call.hpp"
#include "operators/program/oracle/ranges.hpp"

namespace kw::program_oracle {

// All functions are called from several threads at once.

/// What an element follows from.
enum class Reach : std::uint8_t {
  any,   ///< elements that nobody knows
  one,   ///< one element of each operand: to compute it again takes no longer than to remember it
  same,  ///< that of the same place in operands of as many elements
};

/// Each element by itself.
struct ByElement {
  std::function<double(std::size_t output, std::int64_t element)> at;
  /// What `at` asks for of an element's group; a whole tensor needs all groups, and so has them computed side by side.
  std::shared_ptr<GroupStatistics> groups = nullptr;
  Reach reach = Reach::any;
  /// Whether the elements that it asks for follow from its place alone, and not from data.
  bool by_place = false;
  /// Where they do and are groups: which.
  std::shared_ptr<const OperandGroups> reads = nullptr;
  /// With Reach::same: whether operands of fewer elements are repeated along axes of the result, as Broadcast has it.
  bool repeats = false;
};

/// Neighbouring elements of rows of the only output, computed together because that makes a tight loop.
struct BySpan {
  std::int64_t length = 1;   ///< of a row
  std::int64_t terms = 1;    ///< products that an element is the sum of
  std::size_t together = 1;  ///< rows that take less time together, for all of them read the same
  /// Elements first, first + 1, ... of each of these rows, as many as its span of `into` has, all alike. They hold
  /// zeros.
  std::function<void(std::span<const std::int64_t> rows, std::int64_t first, std::span<const std::span<double>> into)>
      fill = nullptr;
  /// Appends what a part of a row reads of the first operand, or more. Null: it may be all.
  std::function<void(const RowPart& part, Ranges& ranges)> first_operand = nullptr;
};

/// Whole lines of all outputs, which have the same shape.
struct ByLine {
  Lines lines;
  std::function<void(std::int64_t line, std::span<std::vector<double>> outputs)> fill;
  bool by_place = false;  ///< as of ByElement
};

using Answer = std::variant<ByElement, BySpan, ByLine>;

/// Of the only output, or of all outputs alike.
template <typename Function>
[[nodiscard]] Answer each_element(Function function, std::shared_ptr<GroupStatistics> groups = nullptr) {
  return ByElement{[function = std::move(function)](std::size_t, std::int64_t element) { return function(element); },
                   std::move(groups)};
}

/// One of elements whose reads follow from their places alone.
[[nodiscard]] inline Answer by_place(Answer answer) {
  std::get<ByElement>(answer).by_place = true;
  return answer;
}
[[nodiscard]] inline Answer by_groups(Answer answer, OperandGroups groups) {
  std::get<ByElement>(answer).reads = std::make_shared<const OperandGroups>(std::move(groups));
  return by_place(std::move(answer));
}

/// The same for a function of one element of each operand.
template <typename Function>
[[nodiscard]] Answer each_from_one(Function function, Reach reach = Reach::one) {
  return ByElement{[function = std::move(function)](std::size_t, std::int64_t element) { return function(element); },
                   nullptr, reach, true};
}
template <typename Function>
[[nodiscard]] Answer each_in_place(Function function) {
  return each_from_one(std::move(function), Reach::same);
}
/// Of operands that are all a Broadcast to the result, or of its extents.
template <typename Function>
[[nodiscard]] Answer each_repeated(Function function) {
  Answer answer = each_in_place(std::move(function));
  std::get<ByElement>(answer).repeats = true;
  return answer;
}

struct OracleRow {
  std::string_view name;  ///< of the node
  Result<Answer> (*answer)(const OracleCall& call);
};

[[nodiscard]] std::span<const OracleRow> unary_answers();
[[nodiscard]] std::span<const OracleRow> activation_answers();
[[nodiscard]] std::span<const OracleRow> binary_answers();
[[nodiscard]] std::span<const OracleRow> blend_answers();
[[nodiscard]] std::span<const OracleRow> distance_answers();
[[nodiscard]] std::span<const OracleRow> reduction_answers();
[[nodiscard]] std::span<const OracleRow> extremum_answers();
[[nodiscard]] std::span<const OracleRow> softmax_answers();
[[nodiscard]] std::span<const OracleRow> scan_answers();
[[nodiscard]] std::span<const OracleRow> view_answers();
[[nodiscard]] std::span<const OracleRow> rearranging_answers();
[[nodiscard]] std::span<const OracleRow> joining_answers();
[[nodiscard]] std::span<const OracleRow> indexing_answers();
[[nodiscard]] std::span<const OracleRow> creation_answers();
[[nodiscard]] std::span<const OracleRow> product_answers();
[[nodiscard]] std::span<const OracleRow> einsum_answers();
[[nodiscard]] std::span<const OracleRow> attention_answers();
[[nodiscard]] std::span<const OracleRow> recurrence_answers();
[[nodiscard]] std::span<const OracleRow> convolution_answers();
[[nodiscard]] std::span<const OracleRow> pooling_answers();
[[nodiscard]] std::span<const OracleRow> resampling_answers();
[[nodiscard]] std::span<const OracleRow> normalisation_answers();
[[nodiscard]] std::span<const OracleRow> pair_loss_answers();
[[nodiscard]] std::span<const OracleRow> class_loss_answers();

/// Null for a name that has no answer.
[[nodiscard]] const OracleRow* oracle_row_named(std::string_view name);
/// Of all rows.
[[nodiscard]] std::vector<std::string_view> oracle_names();

}  // namespace kw::program_oracle
