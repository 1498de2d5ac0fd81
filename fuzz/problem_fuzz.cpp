// Problem files are written by people, and some day sent by strangers. Whatever the bytes: an answer within bounds, and
// an accepted problem has an identity that does not depend on how it was written.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "problem/problem.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto problem = kw::parse_problem(text, "fuzz.toml");
  if (!problem) {
    KW_CHECK(!problem.error().message.empty());
    return 0;
  }
  KW_CHECK(problem->workloads.size() >= 2);
  KW_CHECK(problem->primary().role == kw::WorkloadRole::primary);
  KW_CHECK(!problem->canonical_text().empty());
  for (const auto& workload : problem->workloads) {
    for (const auto& tensor : problem->inputs) KW_CHECK(kw::element_count(tensor, workload.axes).has_value());
    if (kw::draw_work(problem->captures, workload.axes) > 65536.0) continue;
    KW_CHECK(kw::draw_captures(problem->captures, workload.axes, kw::k_nominal_seed).has_value());
    if (workload.axes.at("Sq") * workload.axes.at("Skv") < 4096) KW_CHECK(kw::cost(*problem, workload).flops >= 0.0);
  }
  return 0;
}
