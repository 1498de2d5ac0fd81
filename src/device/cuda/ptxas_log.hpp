#pragma once
// What ptxas says about each kernel when it is asked to be verbose. Kernel source can print lines that look like it
// (#pragma message), but only before ptxas runs: what is read is the last report of a kernel.

#include <cstdint>
#include <string>
#include <string_view>

namespace kw::cuda {

struct PtxasReport {
  bool found = false;                    ///< false: nothing else is filled in
  std::int64_t spill_bytes = 0;          ///< stored and loaded, per thread
  std::int64_t static_shared_bytes = 0;  ///< per block, without what the system reserves
};

[[nodiscard]] PtxasReport ptxas_report(std::string_view log, std::string_view kernel);

/// The log without these reports: what a person wants to read, and the same for the same source. What ptxas says it
/// lost speed by stays.
[[nodiscard]] std::string without_ptxas_reports(std::string_view log);

}  // namespace kw::cuda
