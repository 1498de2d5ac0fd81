#include "tests/seams/row_sum/styles.hpp"

#include <fmt/format.h>

#include "tests/seams/row_sum/row_sum.hpp"

namespace kw {
namespace {

constexpr const char* k_plain = R"(// One work-item per sum.
__kernel void row_sum(__global const float* X, __global float* Y, int sums, int columns, int chunk, int chunks) {
  const int i = get_global_id(0);
  if (i >= sums) return;
  const int first = i % chunks * chunk;
  float sum = 0.0f;
  for (int c = first; c < min(first + chunk, columns); ++c) sum += X[(long)(i / chunks) * columns + c];
  Y[i] = sum;
}
)";

constexpr const char* k_groups =
    R"(// One work-group of GROUP work-items per sum, which adds up their parts in a fixed order.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void row_sum(__global const float* X, __global float* Y, int sums, int columns, int chunk, int chunks) {
  __local float parts[GROUP];
  const int i = get_group_id(0), item = get_local_id(0);
  const int first = i % chunks * chunk;
  float part = 0.0f;
  for (int c = first + item; c < min(first + chunk, columns); c += GROUP) part += X[(long)(i / chunks) * columns + c];
  parts[item] = part;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item != 0) return;
  for (int other = 1; other < GROUP; ++other) part += parts[other];
  Y[i] = part;
}
)";

std::string product_of(const std::vector<std::string>& axes) {
  return axes.empty() ? "1" : fmt::format("{}", fmt::join(axes, " * "));
}

Bundle bundle_of(const Problem& problem, const char* generator, const char* source) {
  Bundle bundle;
  bundle.target = "opencl";
  bundle.problem = problem.name;
  bundle.generator = generator;
  bundle.source = source;
  const std::string sums = product_of(problem.outputs[0].axes);
  const std::string& columns = problem.inputs[0].axes.back();
  const std::int64_t chunk = row_sum_chunk(problem);
  const std::string length = chunk == 0 ? columns : std::to_string(chunk);
  bundle.launches = {{"row_sum", {}, {}, "0", {"X", "Y", sums, columns, length, chunk == 0 ? "1" : "Chunks"}}};
  return bundle;
}

Result<Bundle> emit_plain(const Problem& problem, const DeviceFacts&, const IntBindings&) {
  Bundle bundle = bundle_of(problem, "row_sum plain 1", k_plain);
  bundle.launches[0].grid = {fmt::format("ceil_div({}, 16)", product_of(problem.outputs[0].axes))};
  bundle.launches[0].block = {"16"};
  return bundle;
}

Result<Bundle> emit_groups(const Problem& problem, const DeviceFacts&, const IntBindings&) {
  Bundle bundle = bundle_of(problem, "row_sum groups 1", k_groups);
  bundle.tunables = {{"GROUP", {1, 2, 4, 8, 16, 32}, 8}};
  bundle.launches[0].grid = {product_of(problem.outputs[0].axes)};
  bundle.launches[0].block = {"GROUP"};
  return bundle;
}

}  // namespace

const std::vector<Style>& row_sum_styles() {
  static const std::vector<Style> k_styles = {
      {"row_sum",
       "opencl",
       "plain",
       "one work-item per sum; the baseline",
       {},
       emit_plain,
       [](const Problem&, const DeviceFacts&) { return std::vector<IntBindings>{IntBindings{}}; },
       [](const Problem&, const DeviceFacts&, const IntBindings&) { return 1.0; }},
      {"row_sum",
       "opencl",
       "groups",
       "one work-group per sum",
       {},
       emit_groups,
       [](const Problem&, const DeviceFacts&) {
         return std::vector<IntBindings>{{{"GROUP", 8}}, {{"GROUP", 1}}};
       },
       [](const Problem&, const DeviceFacts&, const IntBindings& chosen) {
         return static_cast<double>(chosen.count("GROUP") > 0 ? chosen.at("GROUP") : 8);
       }}};
  return k_styles;
}

}  // namespace kw
