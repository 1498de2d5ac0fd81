#pragma once
// What a cheater could write without doing the work: if that passes, a problem's checks say nothing. Operator-agnostic:
// probes know tensors and axes, and ask the oracle what the answer would be without one of the inputs.

#include <optional>
#include <string>
#include <vector>

#include "verify/check_suite.hpp"

namespace kw {

struct Probe {
  std::string name;    ///< "all zeros"; continues with "as O passes every check"
  std::string remedy;  ///< what to change about a problem that it passes
  enum class Kind : std::uint8_t { zeros, constant, columns, copy, mean, without } kind = Kind::zeros;
  std::size_t input = 0;  ///< of copy, mean, without
};
[[nodiscard]] std::vector<Probe> probes_for(const Problem& problem);

/// The probe's values for one output of a case; nothing where its shape does not allow them.
[[nodiscard]] Result<std::optional<std::vector<double>>> probe_values(const Problem& problem, const Probe& probe,
                                                                      const CheckCase& one, std::size_t output,
                                                                      const ParallelFor& parallel);

}  // namespace kw
