#pragma once
// The slow, obvious answer, in double precision on the host. Shares no code with codegen: it evaluates the mod's
// expression directly. One file per operator; `find_oracle` is the one place that lists them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "base/result.hpp"
#include "spec/problem.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode oracle_missing{"oracle.missing", ExitClass::internal};
}  // namespace errc

/// Input values in the order of Problem::inputs, each row-major. f16 and bf16 tensors hold values already rounded to
/// their type, captured integers and booleans their value.
using InputValues = std::vector<std::vector<float>>;
/// Output values in the order of Problem::outputs, in double precision: not rounded to the type they are stored in.
using OutputValues = std::vector<std::vector<double>>;

[[nodiscard]] Result<OutputValues> evaluate_oracle(const Problem& problem, const Workload& workload,
                                                   const InputValues& inputs, const ParallelFor& parallel = serial_for);

}  // namespace kw
