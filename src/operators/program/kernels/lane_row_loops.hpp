#pragma once
// The loops of a plan of rows, for CPUs: those of a row, and before them those of the rows that stages are ahead.

#include <map>
#include <string>
#include <vector>

#include "operators/program/kernels/lane_row_plan.hpp"

namespace kw {

class LaneRowLoops {
 public:
  /// Writes to the body of `loops`. `local` are buffers that the kernel holds in no memory. All must outlive this.
  LaneRowLoops(const GroupContext& context, const LaneRowPlan& plan, LaneLoops& loops, KernelScope& scope,
               const std::vector<std::size_t>& local)
      : context_(context), plan_(plan), loops_(loops), scope_(scope), local_(local) {}

  /// The loops of all stages that are so many rows ahead at least.
  void write_loops(int least_ahead);
  /// What write_loops() reads: indices of rows, the results of rows that stages were ahead for, and arrays. To be
  /// called after write_loops(), for it defines what that has printed.
  void write_head(int least_ahead);
  /// What stands in front of the loop over the rows from `first` up to `last`: declarations, and stages of the first
  /// rows that are ahead.
  void write_before();

 private:
  [[nodiscard]] BodyWriter& body() { return loops_.body(); }
  /// The variable of a reduction's result for a row that is so many ahead.
  [[nodiscard]] const std::string& result_of(const RowStage& row, int ahead);
  void write_loop(const std::vector<const RowStage*>& rows);
  /// Of a plan in parts: the loop over them, and then what they are together.
  void write_parts(int least_ahead);
  /// The variable of the written row's part that makes its result of what is kept; an `s` behind it is the array.
  [[nodiscard]] std::string joining() const { return plan_.stages[1].keeps_argument ? "part_term" : "part_factor"; }
  [[nodiscard]] LaneLoops::Work work_in_part(const RowStage& row, const std::string& result);
  [[nodiscard]] LaneLoops::Work work_of(const RowStage& row);
  /// What is printed next reads results of the row that is so many ahead.
  void hold_results(int ahead);

  const GroupContext& context_;
  const LaneRowPlan& plan_;
  LaneLoops& loops_;
  KernelScope& scope_;
  const std::vector<std::size_t>& local_;
  /// Variables of the next row's part.
  const std::string part_maximum_ = "part_maximum", part_sum_ = "part_sum";
  std::map<std::size_t, std::vector<std::string>> results_;  ///< variables by buffer and rows ahead
};

}  // namespace kw
