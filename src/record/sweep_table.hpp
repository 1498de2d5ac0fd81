#pragma once
// A sweep: many candidates of one style's space, each timed once on one problem and device, as a table that people and
// programs read. Text: comment lines "# key = value" that say what was timed and where, a line of column names, and one
// line of comma-separated values for each candidate (docs/formats.md has them all). The tunables and structural choices
// are the last columns, one each; a cell is empty where the candidate's kernel does not have that tunable.
// A user's file: at most k_most_sweep_bytes, and every cell is checked when it is read.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "hardware/device_facts.hpp"
#include "record/attempt.hpp"
#include "record/verdict.hpp"
#include "tensor/int_expr.hpp"
#include "tensor/tensor.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode sweep_table{"sweep.table"};  ///< no such table, or a cell is wrong; names line and column
}  // namespace errc

inline constexpr std::int64_t k_most_sweep_bytes = std::int64_t{64} << 20;

/// What a table is of: the same for all of its rows, also after it was continued.
struct SweepIdentity {
  std::string problem;     ///< name
  std::string problem_id;  ///< Problem::id(), hexadecimal
  std::string op;
  std::string dtype;  ///< of the first output
  Axes axes;          ///< of the primary workload
  std::string target;
  std::string style;
  DeviceFacts device;       ///< with the peaks that bound_ns follows from
  double useful_flops = 0;  ///< of the primary workload
  double useful_bytes = 0;
  double bound_ns = 0;     ///< what the peaks allow; 0: they are not known
  std::int64_t space = 0;  ///< points of the style's space before constraints
};

struct SweepRow {
  std::string origin;      ///< "seed 2", "random"
  IntBindings assignment;  ///< structural choices and tunables
  VerdictStatus status = VerdictStatus::unverified;
  Reason reason = Reason::none;
  double time_ns = 0;              ///< median on the primary workload, cold caches; 0: not timed
  double low_ns = 0, high_ns = 0;  ///< 95 % interval of the median
  std::int64_t samples = 0;
  /// The time of the table's reference, over the ratio of launches interleaved with it: what load does to time_ns is
  /// not in it. The reference is the first candidate that was timed and right.
  double paired_ns = 0;
  bool is_reference = false;  ///< it is the reference
  double estimate = 0;        ///< the style's cost model, in clocks
  double build_ms = 0;
  std::optional<std::int64_t> registers = {}, spill_bytes = {}, shared_bytes = {};  ///< as BuildReport has them

  /// A time that may be compared with others of the table; nothing where the candidate was not timed.
  [[nodiscard]] std::optional<double> cost_ns() const {
    return paired_ns > 0 ? std::optional(paired_ns) : std::nullopt;
  }
};

struct SweepTable {
  SweepIdentity of;
  std::uint64_t seed = 0;
  std::string version;
  std::string started_utc;
  std::vector<std::pair<std::string, std::string>> environment;  ///< name, value: cpu, kernel, load
  std::vector<std::string> names;                                ///< columns of the assignments, in their order
  std::vector<SweepRow> rows;
};

[[nodiscard]] std::string encode_sweep(const SweepTable& table);
/// `file` labels errors.
[[nodiscard]] Result<SweepTable> parse_sweep(std::string_view text, const std::string& file);

}  // namespace kw
