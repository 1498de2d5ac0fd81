// The bundle reader on arbitrary bytes. What it accepts must survive the round trip, and planning it must never do more
// than refuse: every number in it is the attacker's.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "record/bundle.hpp"
#include "record/launch_plan.hpp"

namespace {

kw::Problem problem() {
  kw::Problem problem;
  problem.inputs = {{"Q", kw::DType::f32, {"Sq", "D"}}};
  problem.outputs = {{"O", kw::DType::f32, {"Sq", "D"}}};
  return problem;
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
    const kw::DeviceFacts device{};
    (void)kw::plan_launches(*candidate, problem(), axes, device);
    (void)kw::build_definitions(*candidate, axes, device);
  }
  return 0;
}
