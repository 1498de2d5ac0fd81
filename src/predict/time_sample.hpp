#pragma once
// One timed kernel as a model of time learns it: what was computed, where, how it was tuned, and how long it took. Made
// from sweep tables here, and from an archive's attempts where the archive is known (loop/time_samples.hpp).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hardware/device_facts.hpp"
#include "record/sweep_table.hpp"
#include "tensor/int_expr.hpp"
#include "tensor/tensor.hpp"

namespace kw {

/// Whether a style's cost model said how many clocks: it says infinity of what it takes for impossible.
[[nodiscard]] bool is_an_estimate(double clocks);

/// What all candidates of one problem on one device share.
struct TimeSubject {
  std::string problem;  ///< name
  std::string op;
  std::string dtype;  ///< of the first output
  Axes axes;          ///< of the primary workload
  double useful_flops = 0;
  double useful_bytes = 0;
  std::string target;
  std::string style;
  DeviceFacts device;
  double bound_ns = 0;        ///< what the device's peaks allow (record/peak_times.hpp), above 0
  double first_estimate = 0;  ///< the style's cost model of its first guess, in clocks; 0: not known

  /// Problem and axes: two tables of one shape have the same.
  [[nodiscard]] std::string shape() const;
  /// The same for a device that is here and one that a device file describes: "h200".
  [[nodiscard]] std::string device_name() const;
};

struct TimeSample {
  TimeSubject subject;
  IntBindings assignment;               ///< structural choices, where they are known, and tunables
  std::optional<double> estimate = {};  ///< the style's cost model, in clocks; absent where it was not asked
  std::optional<std::int64_t> registers = {}, spill_bytes = {}, shared_bytes = {};  ///< of the compiler
  double time_ns = 0;  ///< above 0 in a sample to learn from

  /// What a model of time measures it by: the estimated clocks of it, or of the style's first guess, as nanoseconds, or
  /// the bound where that is more. Of a network the bound knows what it reads and writes alone.
  [[nodiscard]] double scale_ns() const;
};

/// Timed rows of a table; none where the device's peaks are not known.
[[nodiscard]] std::vector<TimeSample> samples_of(const SweepTable& table);

}  // namespace kw
