#include "operators/program/kernels/contract_seeds.hpp"

#include <algorithm>

#include "operators/program/kernels/contract_shape.hpp"
#include "operators/program/kernels/grouping.hpp"
#include "operators/program/kernels/program_contracts.hpp"

namespace kw {
namespace {

constexpr const char* k_patch_choice = "PATCHES";
constexpr const char* k_strip_choice = "STRIPS";
constexpr const char* k_direct_choice = "DIRECT";
constexpr const char* k_tail_choice = "TAILS";
constexpr const char* k_phase_choice = "PHASES";
constexpr const char* k_joined_choice = "JOINED";
constexpr const char* k_statistics_choice = "STATISTICS";
constexpr const char* k_scaled_choice = "SCALED";
constexpr const char* k_box_choice = "BOXES";

/// The problem's contractions and what may be tuned about them.
struct ContractSpace {
  std::vector<ContractSize> sizes;
  TileProducts products = TileProducts::simt;  ///< of GPUs
  std::vector<Tunable> tunables;
  std::vector<std::string> constraints;
};

ContractSpace contract_space(Dialect dialect, const Problem& problem, const DeviceFacts& device, ContractWays ways) {
  const auto grouped = grouped_for(problem, dialect, device, ways);
  ContractSpace space;
  if (!grouped) return space;
  ProgramContracts contracts(grouped->program, dialect, device, ways);
  if (contracts.sizes().empty()) return space;
  return {contracts.sizes(), contracts.products(), contracts.tunables(), contracts.constraints()};
}

double cost_in(const ContractSpace& space, Dialect dialect, const DeviceFacts& device, const IntBindings& assignment) {
  return dialect->has_vectors ? contract_vector_cost(space.sizes, device, assignment)
                              : contract_gpu_cost(space.sizes, space.products, device, assignment);
}

}  // namespace

std::vector<Tunable> contract_structure() {
  std::vector<Tunable> choices;
  for (const auto* name : {k_patch_choice, k_strip_choice, k_direct_choice, k_tail_choice, k_phase_choice,
                           k_joined_choice, k_statistics_choice, k_scaled_choice, k_box_choice})
    choices.push_back({name, {0, 1, 2}, 0});
  return choices;
}

ContractWays contract_ways(const IntBindings& structure) {
  const auto use_of = [&](const char* choice) {
    const auto found = structure.find(choice);
    if (found == structure.end() || found->second == 0) return WayUse::estimated;
    return found->second == 1 ? WayUse::always : WayUse::never;
  };
  return {use_of(k_patch_choice),      use_of(k_strip_choice),  use_of(k_direct_choice),
          use_of(k_tail_choice),       use_of(k_phase_choice),  use_of(k_joined_choice),
          use_of(k_statistics_choice), use_of(k_scaled_choice), use_of(k_box_choice)};
}

std::vector<IntBindings> contract_seeds(Dialect dialect, const Problem& problem, const DeviceFacts& device) {
  std::vector<IntBindings> seeds = {IntBindings{}};
  const auto space = contract_space(dialect, problem, device, {});
  if (space.sizes.empty()) return seeds;
  constexpr std::size_t k_seeds = 6;
  const auto best = cheapest_contracts(
      space.tunables, space.constraints, device,
      [&](const IntBindings& one) { return cost_in(space, dialect, device, one); }, k_seeds);
  for (const auto& one : best) {
    const bool is_default = std::all_of(space.tunables.begin(), space.tunables.end(), [&](const Tunable& tunable) {
      return one.at(tunable.name) == tunable.default_value;
    });
    if (!is_default) seeds.push_back(one);
  }
  return seeds;
}

std::function<double(const IntBindings&)> contract_estimator(Dialect dialect, const Problem& problem,
                                                             const DeviceFacts& device, const IntBindings& structure) {
  return [dialect, device,
          space = contract_space(dialect, problem, device, contract_ways(structure))](const IntBindings& assignment) {
    if (space.sizes.empty()) return 1.0;
    IntBindings whole = assignment;
    for (const auto& tunable : space.tunables) whole.emplace(tunable.name, tunable.default_value);
    return cost_in(space, dialect, device, whole);
  };
}

}  // namespace kw
