#include "propose/llm/knowledge/signs.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace kw {
namespace {

constexpr std::string_view k_axis_prefix = "axis_";

struct SignMeaning {
  std::string_view name;
  std::string_view meaning;
};

constexpr SignMeaning k_sign_meanings[] = {
    // Of the problem and the device: known before there is a kernel.
    {"arithmetic_over_memory", "time of the arithmetic over that of the memory traffic, at the device's peaks"},
    {"cuda_arch", "compute capability, 90 for sm_90a"},
    {"masked", "1 where the operator has a mask, else 0"},
    {"narrow_inputs", "1 where an input is f16 or bf16, else 0"},
    // Of a kernel, as it was planned, built and timed.
    {"block_items", "work-items of the largest group"},
    {"bound_share", "share of the roofline bound"},
    {"calls_exp", "calls of a built-in exp or exp2 in the source"},
    {"calls_round", "calls that round or convert to integers in the source"},
    {"calls_tanh", "calls of a built-in tanh in the source"},
    {"groups_per_unit", "groups of the smallest launch over the device's compute units"},
    {"launches", "launches of the bundle"},
    {"occupancy", "resident threads over the most there can be, 0 to 1"},
    {"registers", "registers per thread"},
    {"scratch_share", "bytes of scratch over those of inputs and outputs"},
    {"shared_bytes", "bytes of shared memory per block"},
    {"spill_bytes", "spilled bytes per thread"},
    {"tensor_cores", "tensor core instructions in the compiled code"},
    {"vector_types", "vector types and vector loads in the source"},
    // Of the innermost loop with the most arithmetic, where machine code was read.
    {"loop_calls", "calls in the inner loop"},
    {"loop_loads", "loads and stores for each arithmetic instruction of the inner loop"},
    {"loop_stack", "accesses of the stack for each arithmetic instruction of the inner loop"},
    {"loop_vector_bits", "bits of the widest vectors in the inner loop"},
    // Of a kernel whose accesses the simulator counted.
    {"bank_excess", "passes over the banks of shared memory over those needed"},
    {"lane_share", "share of the lanes that take part in their warps' requests"},
    {"sector_excess", "sectors of global memory over those needed"},
    // Of either.
    {"divergent_share", "share of the branches at which a warp's lanes part"},
    // Of a kernel whose hardware counters were read.
    {"bank_conflict_share", "share of bank conflicts in the passes over shared memory"},
    {"dram_peak_share", "share of device memory's peak rate"},
    {"issue_share", "share of cycles in which an instruction was issued"},
    {"l2_hit_share", "share of L2 accesses that hit"},
    {"tensor_pipe_share", "share of cycles in which tensor cores were busy"},
    {"wait_barrier", "share of the samples of warps that wait at barriers"},
    {"wait_global", "share of the samples of warps that wait for global memory"},
    {"wait_shared", "share of the samples of warps that wait for shared memory or special functions"},
};

}  // namespace

std::string sign_meaning(std::string_view name) {
  if (name.starts_with(k_axis_prefix) && name.size() > k_axis_prefix.size()) {
    return fmt::format("extent of axis {}", name.substr(k_axis_prefix.size()));
  }
  for (const auto& sign : k_sign_meanings) {
    if (sign.name == name) return std::string(sign.meaning);
  }
  return "";
}

std::string sign_names() {
  return join(k_sign_meanings, ", ", &SignMeaning::name) + ", axis_NAME";
}

}  // namespace kw
