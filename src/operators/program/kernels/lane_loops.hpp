#pragma once
// The loops over the columns of a row for CPUs: sixteen elements at a time where lanes fit, and the rest one by one. A
// loop may do a step of a reduction and store elements of a map in the same turn.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "operators/program/kernels/accumulator.hpp"
#include "operators/program/kernels/body_writer.hpp"
#include "operators/program/kernels/lane_scope.hpp"
#include "operators/program/kernels/lane_streams.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// What stores an element of the stage goes to, as a load of its buffer.
[[nodiscard]] StageNode place_of(const Stage& stage);

/// Columns are the axes of a stage behind its rows, or those that it reduces.
[[nodiscard]] StageAxes columns_of(const Stage& stage, std::size_t row_count);
/// Whether lanes can go along the last of the stage's columns.
[[nodiscard]] bool columns_have_lanes(const Stage& stage, std::size_t row_count);

/// A stage of a row, and what its loop does besides.
struct RowStage {
  Stage stage;
  /// Of a reduction: each element is also stored here, for a later stage that reads it instead of computing it again.
  /// At the end of a turn of the loop, for that stage may have read what was there before.
  std::optional<StageNode> kept;
  bool keeps_argument = false;  ///< not the element is kept, but what it is a function of
  /// It gathers a part of a row as lane_row_parts.hpp has it: a maximum of what is no NaN, or a sum of exponentials of
  /// numbers that are 0 or less.
  bool of_part = false;
  int ahead = 0;  ///< it is done for the row that is so many behind the one of the group's last stage
};

class LaneLoops {
 public:
  LaneLoops(const GroupContext& context, KernelScope& scope, std::size_t row_count)
      : context_(context), scope_(scope), row_count_(row_count) {}

  [[nodiscard]] BodyWriter& body() { return body_; }
  /// Buffers that were stored to.
  [[nodiscard]] const std::set<std::size_t>& written() const { return written_; }
  /// Of stores past the caches, loads that are asked for ahead and parts of rows in turn, where there are any; see
  /// lane_streams.hpp.
  [[nodiscard]] std::vector<Tunable> stream_tunables() const;

  /// What one stage of a row does in a loop over columns.
  struct Work {
    std::function<void()> begin;
    std::function<void(LaneScope& lanes)> in_lanes;
    std::function<void()> after_part;  ///< of lanes that gather parts of a long sum; null otherwise
    std::function<void()> one;
    std::function<void()> after_line;  ///< at the end of a loop over the last axis
    std::function<void()> end;
    bool reads_memory = false;  ///< as the first of its kernel, in the order of a large tensor's elements
    /// Of stores past the caches, where it takes more than the kernel's text to know that lines begin as they must; see
    /// streams_if(). Such a loop is there twice: with the question in it, a softmax took a sixth longer.
    std::string streams_if;
  };
  /// The loop of `stage`'s columns, in which several works with the same columns take their turns. From column `first`
  /// up to `last`, which is empty for all of them.
  void over_columns(const Stage& stage, const std::vector<Work>& works, const std::string& first = "0",
                    const std::string& last = "");
  [[nodiscard]] Work map_work(const Stage& stage);
  /// The reduction into the variable `result`, which is declared. What it gathers in are variables that begin with
  /// `prefix`; `row` and `result` must outlive the work.
  [[nodiscard]] Work reduction_work(const RowStage& row, const std::string& result, const std::string& prefix = "");
  void store_result(const Stage& stage, const std::string& value) { body_.line(scalar_store(stage, value)); }

  // For lanes that are rows.

  void lane_map(const Stage& stage, LaneScope& lanes);
  /// `part` is what a long sum gathers short parts in; open_parts() has the loop for that.
  void lane_step(const RowStage& row, LaneScope& lanes, const std::string& variable, const std::string& part);
  void store_lanes(const Stage& stage, LaneScope& lanes, const std::string& value);
  void open_loop(const StageAxis& axis);
  /// Two loops, of which the inner one goes over a part of a long sum: a long sequential sum would lose too much. They
  /// go from where `index` stands up to `end` in whole steps, and leave `index` at the first that was not reached.
  void open_parts(const std::string& index, const std::string& end, int step);
  void close(std::size_t loops);
  /// Adds the part of a long sum that is under way.
  void flush(const std::string& sum, const std::string& part);
  static bool gathers_parts(const Stage& stage);

 private:
  /// Those that the loop's end does not see to.
  void write_guards(const Stage& stage);
  /// The end of the loop over the last of the stage's columns.
  [[nodiscard]] std::string end_of_columns(const Stage& stage);
  void scalar_map(const Stage& stage);
  [[nodiscard]] std::string scalar_store(const Stage& stage, const std::string& value);
  void scalar_step(const RowStage& row, const Accumulator& accumulator);
  /// Loads of the stage that no stage before has met.
  [[nodiscard]] std::vector<StageNode> first_loads(const Stage& stage);
  void fetch(const std::vector<StageNode>& loads, LaneScope& lanes);
  /// The loop of sixteen columns at a time, from `first` on. Returns how the loop over the columns that are left
  /// begins.
  [[nodiscard]] std::string lanes_over_columns(const StageAxis& axis, const std::string& first, const std::string& end,
                                               const std::vector<Work>& works);
  /// The same where parts of a long row are read in turn.
  [[nodiscard]] std::string lanes_in_turns(const std::string& axis, const std::string& end,
                                           const std::vector<Work>& works);
  void lanes_of(const std::string& axis, const std::vector<Work>& works);
  /// What `write` writes, and where works ask it once more for lines that begin elsewhere.
  void for_lines(const std::vector<Work>& works, const std::function<void()>& write);
  /// Stores what stages of this turn keep.
  void write_kept();
  void after_part(const std::vector<Work>& works);
  std::size_t open_outer(const StageAxes& columns);
  void finish_reduction(const Stage& stage, const Accumulator& accumulator, const std::string& result);

  const GroupContext& context_;
  KernelScope& scope_;
  std::size_t row_count_;
  BodyWriter body_;
  std::set<std::size_t> written_;
  bool streams_ = false;
  std::optional<bool> at_a_line_;  ///< what is known of the lines that the loop under way stores
  bool fetches_ = false;
  bool in_turns_ = false;
  std::set<std::size_t> fetched_;  ///< buffers that a stage before has brought into the caches
  std::vector<std::string> kept_;  ///< statements that store what is kept of this turn
  std::string part_end_;           ///< the name of where a part of a long sum ends
  std::string bounded_;            ///< the axis whose loop ends where guards say so
};

}  // namespace kw
