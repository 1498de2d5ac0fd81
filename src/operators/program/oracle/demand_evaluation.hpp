#pragma once
// Elements of a graph with their cone of inputs. Where it is known which elements of a node are needed, those are
// computed side by side. Of other nodes, as of those that read where an index says, they are asked for: a node's answer
// reads its operands through a memo, which asks the operand's own node for what it does not know yet. What takes no
// longer to compute again is not remembered.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "operators/program/oracle/element_memo.hpp"
#include "operators/program/oracle/evaluation.hpp"
#include "operators/program/oracle/needed_elements.hpp"
#include "operators/program/oracle/oracle.hpp"

namespace kw::program_oracle {

/// What asking for elements takes, in units of who counts.
struct AskingCosts {
  std::vector<double> kept;  ///< by value: for an element that is computed and kept
  double afresh = 0;         ///< for one that is computed again whenever somebody asks
  double leaf = 0;           ///< for one of a leaf
};

enum class Counting : std::uint8_t {
  nothing,
  computed,           ///< elements that are computed
  computed_and_read,  ///< and those of leaves
};

class DemandEvaluation {
 public:
  /// `graph` and `leaves` must outlive it.
  DemandEvaluation(const Graph& graph, const std::map<std::size_t, LeafElements>& leaves, OnTheWay on_the_way);

  /// Before elements of these are asked for; once. One that counts computes nothing here.
  [[nodiscard]] Result<void> prepare(std::span<const WantedElements> wanted, const ParallelFor& parallel,
                                     Counting counting = Counting::nothing);
  /// From any thread.
  [[nodiscard]] double element(std::size_t value, std::int64_t i);
  /// Computes the rows of products and convolutions that these elements are, or follow from, side by side: each element
  /// of a product's operands is read once for several rows.
  void compute_rows(const WantedElements& wanted, const ParallelFor& parallel);

  /// Elements of the tensors that were prepared and that are kept where somebody asks for them.
  [[nodiscard]] std::int64_t elements_on_the_way() const;
  /// For each such value.
  template <typename Use>
  void for_each_on_the_way(const Use& use) const {
    for (std::size_t value = 0; value < memos_.size(); ++value) {
      if (memos_[value] != nullptr) use(value);
    }
  }

  /// What asking for these takes, after what was asked for before, of one that counts; nothing where it is more than
  /// `most`. On one thread.
  [[nodiscard]] std::optional<double> cost_of(std::span<const WantedElements> wanted, const AskingCosts& costs,
                                              double most);

 private:
  [[nodiscard]] Result<void> prepare(std::size_t node, const ParallelFor& parallel);
  [[nodiscard]] bool is_held(const Node& node) const;
  void hold(std::size_t node, const ParallelFor& parallel);
  void take_whole(std::size_t node, const ParallelFor& parallel);
  bool take_operands_whole(const Node& node, const ParallelFor& parallel);
  [[nodiscard]] bool takes_all_of(const Node& node, const Answer& answer, std::size_t depth, bool is_afresh) const;
  [[nodiscard]] bool is_kept(std::size_t value, const Answer& answer) const;
  [[nodiscard]] std::size_t afresh_steps(const Node& node, const Answer& answer) const;
  [[nodiscard]] Operand operand(std::size_t value);
  [[nodiscard]] bool is_leaf(std::size_t value) const { return leaves_.find(value) != leaves_.end(); }
  void charge(double cost);
  [[nodiscard]] bool is_counted_by_rows(const BySpan& answer, const Node& node) const;
  double count(const RowPart& part, const BySpan& answer, const Node& node, std::size_t value);
  double keep(std::size_t value, std::int64_t i, double computed);
  double compute(const ByElement& answer, const Node& node, std::size_t output, std::int64_t i);
  double compute(const BySpan& answer, const Node& node, std::size_t output, std::int64_t i);
  double compute(const ByLine& answer, const Node& node, std::size_t output, std::int64_t i);
  void compute_rows_behind(const Node& node, std::size_t output, const Ranges& ranges, const ParallelFor& parallel);
  void compute_rows(std::size_t value, const Ranges& ranges, const ParallelFor& parallel, std::vector<bool>& visited);
  [[nodiscard]] std::map<std::size_t, Ranges> reads_of(const Node& node, std::size_t value, const Ranges& ranges,
                                                       const ParallelFor& parallel);

  const Graph& graph_;
  const std::map<std::size_t, LeafElements>& leaves_;
  OnTheWay on_the_way_;
  Counting counting_ = Counting::nothing;
  const AskingCosts* costs_ = nullptr;               ///< while it counts
  double left_ = 0;                                  ///< of what may be counted
  std::vector<std::unique_ptr<ElementMemo>> memos_;  ///< by value; null where elements are computed afresh
  std::vector<std::optional<DenseTensor>> whole_;    ///< by value
  std::vector<NeededElements> needed_;               ///< by value; empty where nobody asked which are
  /// By value: memory for all elements, of which those that are needed are computed; null where they are asked for.
  std::vector<std::unique_ptr<double[]>> held_;
  std::vector<int> readers_;                    ///< by value: nodes that have yet to be computed, and who asks
  std::vector<std::optional<Answer>> answers_;  ///< by node
  std::vector<std::size_t> depth_;              ///< by value
  std::vector<std::size_t> afresh_;             ///< by value: nodes that are computed again for one element
  std::vector<bool> read_;                      ///< by value: whether a needed node has it as an operand
  std::vector<bool> follows_from_rows_;         ///< by value: whether rows of spans are on the way to it
  std::vector<std::int64_t> asked_;             ///< by value: of how many elements somebody wants to know
};

}  // namespace kw::program_oracle
