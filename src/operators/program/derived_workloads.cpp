#include "operators/program/derived_workloads.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>

#include "base/hash.hpp"
#include "base/rng.hpp"
#include "operators/program/steps.hpp"
#include "program/explain/cost.hpp"
#include "program/reader/program_reader.hpp"
#include "program/stages/same_program.hpp"

namespace kw {
namespace {

constexpr int k_most_draws = 400;  ///< of small extents, and then with large ones among them
/// Of the largest tensor, and of products: an interpreter and a sanitizer run these.
constexpr double k_small_elements = 1 << 15;
constexpr double k_small_flops = 4e6;
/// Awkward extents: one, primes, and neighbours of powers of two.
constexpr std::array<std::int64_t, 12> k_odd_extents = {1, 2, 3, 5, 7, 11, 13, 17, 31, 33, 37, 65};

struct DrawnWorkload {
  Axes axes;
  double size = 0;  ///< 1 of those that are small, and else by how much it is too large
};

double size_of(const Program& program) {
  double most = 0;
  for (const auto& value : program.graph.values) most = std::max(most, elements_of(value.type));
  return std::max(most / k_small_elements, cost_of(program).product_flops / k_small_flops);
}

std::uint64_t seed_of(const std::string& text) {
  return std::strtoull(hash_bytes(text).hex().substr(0, 15).c_str(), nullptr, 16);
}

/// One extent: awkward, or a divisor of the primary's, which groups and heads may need; one of the large divisors too
/// where `large`, for a module may have a number of groups of its own.
std::int64_t drawn_extent(std::int64_t primary, bool large, Rng& rng) {
  if (rng.below(2) == 0) return k_odd_extents[static_cast<std::size_t>(rng.below(k_odd_extents.size()))];
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d <= std::min<std::int64_t>(primary, 64); ++d) {
    if (primary % d != 0) continue;
    divisors.push_back(d);
    if (large) divisors.push_back(primary / d);
  }
  return divisors[static_cast<std::size_t>(rng.below(std::ssize(divisors)))];
}

/// Axes of one extent are drawn alike every second time: a module may need them to be the same.
Axes drawn_axes(const Axes& primary, bool large, Rng& rng) {
  const bool tied = rng.below(2) == 0;
  std::map<std::int64_t, std::int64_t> drawn;
  Axes axes;
  for (const auto& [name, extent] : primary) {
    const std::int64_t own = drawn_extent(extent, large, rng);
    const auto first = drawn.try_emplace(extent, own).first;
    axes[name] = tied ? first->second : own;
  }
  return axes;
}

}  // namespace

std::vector<Axes> derived_workloads(const ModuleSource& module, const std::vector<std::string>& axes,
                                    const Program& primary, std::size_t count) {
  Axes extents;
  for (const auto& axis : primary.axes) {
    if (std::find(axes.begin(), axes.end(), axis.name) != axes.end()) extents[axis.name] = axis.extent;
  }
  Rng rng(seed_of(module.text));
  std::vector<DrawnWorkload> found;
  std::set<Axes> drawn = {extents};
  std::size_t small = 0;
  for (int draw = 0; draw < 2 * k_most_draws && small < count && !extents.empty(); ++draw) {
    DrawnWorkload one{drawn_axes(extents, draw >= k_most_draws, rng), 0};
    if (!drawn.insert(one.axes).second) continue;
    ProgramOptions options{module.class_name, module.settings, module.mode, axes};
    options.set.insert(one.axes.begin(), one.axes.end());
    const auto program = read_program(module.text, module.file, options);
    if (!program) continue;
    one.size = std::max(size_of(*program), 1.0);
    // A whole network takes long to compare, and most of the large ones are not taken.
    const auto is_smaller = [&](const DrawnWorkload& other) { return other.size <= one.size; };
    if (static_cast<std::size_t>(std::ranges::count_if(found, is_smaller)) >= count) continue;
    if (!check_same_program(primary, *program, one.axes)) continue;
    if (one.size == 1.0) ++small;
    found.push_back(std::move(one));
  }
  // Those that are small, in the order they were drawn; behind them the smallest of the others.
  std::ranges::stable_sort(found, {}, &DrawnWorkload::size);
  if (found.size() > count) found.resize(count);
  std::vector<Axes> workloads;
  for (auto& one : found) workloads.push_back(std::move(one.axes));
  return workloads;
}

}  // namespace kw
