#include "operators/program/kernels/families.hpp"

#include <algorithm>

#include "operators/program/kernels/cached_rows.hpp"
#include "operators/program/kernels/contract.hpp"
#include "operators/program/kernels/lane_rows.hpp"
#include "operators/program/kernels/lane_windows.hpp"
#include "operators/program/kernels/maps.hpp"
#include "operators/program/kernels/plain.hpp"
#include "operators/program/kernels/recurrences.hpp"
#include "operators/program/kernels/rows.hpp"
#include "operators/program/kernels/scans.hpp"
#include "operators/program/kernels/windows.hpp"

namespace kw {

const std::vector<KernelFamily>& kernel_families() {
  static const std::vector<KernelFamily> k_families = {
      {"recurrence", recurrences_take, recurrence_kernels},
      {"contract", contract_takes, contract_kernels},
      {"window", windows_take, windows_kernels},
      {"cached", are_cached_rows, cached_rows_kernels},
      {"reduce", rows_take, rows_kernels},
      {"map", maps_take, maps_kernels},
      {"scan", scans_take, scans_kernels},
      {"lane windows", lane_windows_take, lane_windows_kernels},
      {"lanes", lane_rows_take, lane_rows_kernels},
      {"plain", [](const GroupContext&, const StageGroup& group) { return group.stages.size() == 1; }, plain_kernels},
  };
  return k_families;
}

const KernelFamily& family_of(const GroupContext& context, const StageGroup& group) {
  const auto& families = kernel_families();
  const auto found = std::find_if(families.begin(), families.end(),
                                  [&](const KernelFamily& family) { return family.takes(context, group); });
  KW_CHECK(found != families.end(), "no family takes a group of {} stages", group.stages.size());
  return *found;
}

}  // namespace kw
