// The bundle reader on arbitrary bytes. What it accepts must survive the round trip, and planning it must never do more
// than refuse: every number in it is the attacker's.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "record/bundle.hpp"
#include "record/dispatch.hpp"
#include "record/launch_plan.hpp"

namespace {

kw::Problem problem() {
  kw::Problem problem;
  problem.inputs = {{"Q", kw::DType::f32, {"Sq", "D"}}};
  problem.outputs = {{"O", kw::DType::f32, {"Sq", "D"}}};
  return problem;
}

kw::DeviceFacts gpu() {
  kw::DeviceFacts device;
  device.name = "NVIDIA H200";
  device.gpu.emplace().arch = "sm_90a";
  return device;
}

/// What the dispatch table says is complete and allowed, or refused.
void check_resolved(const kw::Candidate& candidate, const kw::Axes& axes, const kw::DeviceFacts& device) {
  const auto resolved = kw::resolve_tunables(candidate, axes, device);
  if (!resolved) return;
  if (resolved->values.size() != candidate.bundle.tunables.size()) std::abort();
  for (const auto& [name, value] : resolved->values)
    if (!kw::allowed_tunable(candidate.bundle, name, value)) std::abort();
  const auto again = kw::make_candidate(kw::with_defaults(candidate));
  if (!again || kw::resolve_tunables(*again, axes, device)->values != resolved->values) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bundle = kw::parse_bundle({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!bundle) {
    if (bundle.error().message.empty() || bundle.error().where.file != "fuzz") std::abort();
    return 0;
  }
  const auto again = kw::parse_bundle(bundle->to_text(), "again");
  if (!again || *again != *bundle) std::abort();
  if (const auto candidate = kw::make_candidate(*bundle)) {
    const kw::Axes axes = {{"Sq", 64}, {"D", 16}};
    for (const kw::DeviceFacts& device : {kw::DeviceFacts{}, gpu()}) {
      check_resolved(*candidate, axes, device);
      (void)kw::plan_launches(*candidate, problem(), axes, device);
      (void)kw::build_definitions(*candidate, axes, device);
    }
  }
  return 0;
}
