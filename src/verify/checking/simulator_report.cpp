#include "verify/checking/simulator_report.hpp"

#include <algorithm>
#include <string_view>

#include "record/named_lines.hpp"

namespace kw {

std::optional<SimulatorFinding> first_simulator_finding(const std::string& output) {
  constexpr std::string_view k_prefix = "kernelwright-sim: ";
  constexpr std::size_t k_most_chars = 400;
  std::size_t begin = output.find(k_prefix);
  if (begin == std::string::npos) return std::nullopt;
  begin += k_prefix.size();
  SimulatorFinding finding;
  finding.text = output.substr(begin, std::min(output.find('\n', begin) - begin, k_most_chars));
  std::replace_if(
      finding.text.begin(), finding.text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  finding.summary = "the simulator found: " + finding.text.substr(0, finding.text.find(':')) + lines_text(finding.text);
  return finding;
}

}  // namespace kw
