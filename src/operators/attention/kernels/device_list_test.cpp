#include "codegen/device_list.hpp"

#include <gtest/gtest.h>

#include "base/file_system.hpp"
#include "codegen/testing/devices.hpp"
#include "hardware/device_file.hpp"
#include "record/dispatch.hpp"
#include "record/launch_plan.hpp"

namespace kw {
namespace {

Problem shipped(const std::string& name) {
  return load_problem("attention/" + name, RealFileSystem{}, {"problems"}).value();
}

std::vector<DeviceFacts> devices(const std::vector<std::string>& names) {
  std::vector<DeviceFacts> all;
  for (const auto& name : names) all.push_back(find_device_facts(name).value());
  return all;
}

const std::vector<std::string> k_all = {"h200", "a100", "l40s", "rtx4090", "b200"};

struct ListCase {
  std::string problem, target, style;
  std::vector<std::string> devices;
};
void PrintTo(const ListCase& one, std::ostream* out) {
  *out << one.target << ' ' << one.style;
}

class DeviceList : public ::testing::TestWithParam<ListCase> {};

TEST_P(DeviceList, gives_each_device_what_it_would_have_alone) {
  const auto& [name, target, style, names] = GetParam();
  const Problem problem = shipped(name);
  const auto listed = devices(names);
  const auto bundle = emit_for_devices(problem, target, style, listed);
  ASSERT_TRUE(bundle.has_value()) << bundle.error().to_string();
  EXPECT_EQ(bundle->dispatch.size(), listed.size());
  const Candidate candidate = make_candidate(*bundle).value();
  EXPECT_EQ(parse_bundle(bundle->to_text(), "emitted").value(), *bundle);
  for (const DeviceFacts& device : listed) {
    const Bundle alone = emit_bundle(problem, target, style, device).value();
    EXPECT_TRUE(alone.dispatch.empty());
    EXPECT_EQ(bundle->source, alone.source) << device.id;
    const Candidate expected = make_candidate(alone).value();
    for (const auto& workload : problem.workloads) {
      const auto resolved = resolve_tunables(candidate, workload.axes, device).value();
      EXPECT_EQ(resolved.values, expected.tunables) << device.id << ", " << workload.name;
      ASSERT_TRUE(resolved.row.has_value()) << device.id;
      EXPECT_EQ(bundle->dispatch[*resolved.row].device, device.id);
      EXPECT_EQ(build_definitions(candidate, workload.axes, device).value(),
                build_definitions(expected, workload.axes, device).value());
      EXPECT_TRUE(plan_launches(candidate, problem, workload.axes, device)) << device.id << ", " << workload.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, DeviceList,
    ::testing::Values(ListCase{"causal", "cuda", "simt", k_all}, ListCase{"causal", "cuda", "mma", k_all},
                      ListCase{"causal_bf16", "cuda", "mma", k_all},
                      ListCase{"document_causal_f16", "cuda", "mma", k_all},
                      ListCase{"neighborhood_2d", "cuda", "mma", k_all}, ListCase{"alibi_lse", "cuda", "simt", k_all},
                      ListCase{"causal_bf16", "cuda", "wgmma", {"h200", "h100"}},
                      ListCase{"causal_bf16", "hip", "simt", {"mi300x", "rx7900xtx"}}),
    [](const auto& param) { return param.param.problem + "_" + param.param.target + "_" + param.param.style; });

TEST(DeviceListBundle, is_the_ordinary_one_for_one_device_and_without_tunables) {
  const Problem problem = shipped("causal");
  const auto one = devices({"h200"});
  EXPECT_EQ(emit_for_devices(problem, "cuda", "mma", one).value(),
            emit_bundle(problem, "cuda", "mma", one.front()).value());
  const auto two = devices({"h200", "a100"});
  EXPECT_EQ(emit_for_devices(problem, "cuda", "plain", two).value(),
            emit_bundle(problem, "cuda", "plain", two.front()).value());
}

TEST(DeviceListBundle, has_the_defaults_of_the_device_with_the_least_shared_memory) {
  const Problem problem = shipped("causal_bf16");
  const auto listed = devices({"h200", "l40s", "a100"});
  const Candidate candidate = make_candidate(emit_for_devices(problem, "cuda", "mma", listed).value()).value();
  const auto elsewhere = find_device_facts("rtx5090").value();
  const auto resolved = resolve_tunables(candidate, problem.primary().axes, elsewhere).value();
  EXPECT_EQ(resolved.row, std::nullopt);
  EXPECT_EQ(resolved.values, make_candidate(emit_bundle(problem, "cuda", "mma", listed[1]).value())->tunables);
  EXPECT_TRUE(plan_launches(candidate, problem, problem.primary().axes, elsewhere)) << "it has as little";
}

TEST(DeviceListBundle, takes_the_fastest_style_that_writes_for_all_of_them) {
  const Problem half = shipped("causal_f16");
  EXPECT_EQ(fastest_common_style(half, "cuda", devices({"h200"})), "wgmma");
  EXPECT_EQ(fastest_common_style(half, "cuda", devices({"h200", "h100"})), "wgmma");
  EXPECT_EQ(fastest_common_style(half, "cuda", devices({"h200", "a100"})), "mma");
  const std::vector<DeviceFacts> old = {gpu_device("sm_90"), gpu_device("sm_75")};
  EXPECT_EQ(fastest_common_style(half, "cuda", old), "simt");
  EXPECT_EQ(fastest_common_style(half, "metal", old), "");
}

TEST(DeviceListBundle, refuses_a_style_that_one_of_them_cannot_run_and_names_it) {
  const auto refused = emit_for_devices(shipped("causal_f16"), "cuda", "wgmma", devices({"h200", "a100"}));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().to_string(),
            "style \"wgmma\" needs the warpgroup instructions of sm_90a, and NVIDIA A100 80GB SXM is sm_80; "
            "\"attention/causal_f16\" was asked for [codegen.unsupported]\n  try: use style \"mma\"");
}

TEST(DeviceListBundle, refuses_devices_that_it_could_not_tell_apart) {
  const auto error_of = [](const std::vector<DeviceFacts>& listed) {
    const auto bundle = emit_for_devices(shipped("causal"), "cuda", "mma", listed);
    return bundle ? "no error" : bundle.error().to_string();
  };
  const std::string hint = "\n  try: list each device once, and give device files a \"name\" of their own";
  EXPECT_EQ(error_of(devices({"h200", "a100", "h200"})),
            "a row for \"h200\" would also be taken on another listed device [codegen.unsupported]" + hint);
  auto listed = devices({"a100"});
  listed.push_back(parse_device_file(R"({"arch": "sm_80", "name": "NVIDIA A100 PCIe"})", "mine.json").value());
  EXPECT_EQ(error_of(listed),
            "a row for \"a100\" would also be taken on another listed device [codegen.unsupported]" + hint);
}

TEST(DeviceListBundle, puts_a_row_for_an_architecture_behind_those_of_its_devices) {
  auto listed = devices({"a100", "h200"});
  listed.insert(listed.begin(), parse_device_file(R"({"arch": "Hopper", "sm_count": 78})", "mine.json").value());
  const Bundle bundle = emit_for_devices(shipped("causal"), "cuda", "mma", listed).value();
  std::vector<std::string> rows;
  for (const auto& row : bundle.dispatch) rows.push_back(row.device);
  EXPECT_EQ(rows, (std::vector<std::string>{"a100", "h200", "sm_90a"}));
}

/// A text that depended on the device would be some device's alone; this is how such a style would be found.
TEST(DeviceListBundle, needs_a_text_that_does_not_depend_on_the_device) {
  const Problem problem = shipped("causal");
  std::vector<DeviceFacts> listed = {avx512_device(), sse_device()};
  listed[1].name = "a CPU with SSE";
  const auto refused = emit_for_devices(problem, "opencl", "vector", listed);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, errc::codegen_unsupported);
  EXPECT_EQ(refused.error().to_string(),
            "style \"vector\" writes another kernel for a CPU with SSE than for a CPU with AVX-512 "
            "[codegen.unsupported]\n  try: emit a bundle for each of them");
}

}  // namespace
}  // namespace kw
