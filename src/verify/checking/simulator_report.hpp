#pragma once
// What the CUDA simulator writes about a kernel, read back by the host. The candidate shares the process that writes it
// and could forge or hide a line: a forged one rejects its own kernel, a hidden one leaves the other gates.

#include <optional>
#include <string>

namespace kw {

struct SimulatorFinding {
  std::string summary;  ///< kind and line of the source: nothing about sizes
  std::string text;     ///< the whole sentence, printable
};

/// The first line of the form "kernelwright-sim: KIND: TEXT, line N" (device/sim/findings.hpp).
[[nodiscard]] std::optional<SimulatorFinding> first_simulator_finding(const std::string& output);

}  // namespace kw
