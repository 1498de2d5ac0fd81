#pragma once
// What a cheater could write without doing the work: if that passes, a problem's checks say nothing. Those here
// know tensors and axes, and ask the oracle what the answer would be without one of the inputs; operators add their
// own.

#include <optional>
#include <string>
#include <vector>

#include "problem/operator_checks.hpp"
#include "verify/checking/check_suite.hpp"

namespace kw {

struct Probe {
  std::string name;    ///< "all zeros"; continues with "as O passes every check"
  std::string remedy;  ///< what to change about a problem that it passes
  enum class Kind : std::uint8_t { zeros, constant, columns, copy, own, without } kind = Kind::zeros;
  std::size_t input = 0;        ///< of copy, own, without
  std::optional<OwnProbe> own;  ///< the operator's
};
[[nodiscard]] std::vector<Probe> probes_for(const Problem& problem);

/// The probe's values for one output of a case; nothing where its shape does not allow them.
[[nodiscard]] Result<std::optional<std::vector<double>>> probe_values(const Problem& problem, const Probe& probe,
                                                                      const CheckCase& one, std::size_t output,
                                                                      const ParallelFor& parallel);

}  // namespace kw
