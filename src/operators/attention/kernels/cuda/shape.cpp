#include "operators/attention/kernels/cuda/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/int_math.hpp"
#include "hardware/gpu_arch.hpp"
#include "hardware/occupancy.hpp"
#include "mod/analysis/analysis.hpp"
#include "operators/attention/attention.hpp"

namespace kw {
namespace {

std::int64_t head_of(const Workload& workload) {
  return std::max(workload.axes.at("D"), workload.axes.at("Dv"));
}

const Workload& with_largest_heads(const Problem& problem) {
  return *std::max_element(problem.workloads.begin(), problem.workloads.end(),
                           [](const Workload& a, const Workload& b) { return head_of(a) < head_of(b); });
}

HeadText heads_of(const Workload& workload) {
  return {std::to_string(workload.axes.at("D")), std::to_string(workload.axes.at("Dv"))};
}

/// Share of the panels that a block goes through: masks leave some out, but how many a draw's mask leaves out is not
/// known here, so a mask with bounds counts half and one with a map a quarter, and coarse tiles more of it.
double panel_share(const Problem& problem, const BlockShape& block) {
  const AttentionSpec& attention = *attention_of(problem);
  if (!attention.apart.mask_mod && !attention.losing) return 1.0;
  // A term by which keys may lose is most often a causal mask of a caller's own making.
  const double attended = attention.losing || !needs_block_mask(attention) ? 0.5 : 0.25;
  const double edge = static_cast<double>(block.rows + block.keys) /
                      (2.0 * static_cast<double>(std::max<std::int64_t>(problem.primary().axes.at("Skv"), 1)));
  return std::min(1.0, attended + edge);
}

}  // namespace

DeviceFacts gpu_facts_for(const DeviceFacts& device) {
  if (device.gpu) return device;
  // 99 KiB of shared memory per block is what every architecture since sm_80 has at least.
  DeviceFacts facts = gpu_arch_facts(find_gpu_arch("sm_86").value());
  facts.compute_units = 1;
  return facts;
}

HeadText primary_heads(const Problem& problem) {
  return heads_of(problem.primary());
}

std::vector<HeadText> heads_to_fit(const Problem& problem) {
  std::vector<HeadText> heads = {primary_heads(problem)};
  const Workload& largest = with_largest_heads(problem);
  if (head_of(largest) > head_of(problem.primary())) heads.push_back(heads_of(largest));
  return heads;
}

std::string shrunk(const Problem& problem, const HeadText& heads, const std::string& count, std::int64_t least) {
  constexpr std::int64_t k_small_head = 64;
  const std::int64_t usual = std::max(k_small_head, head_of(problem.primary()));
  if (head_of(with_largest_heads(problem)) <= usual) return count;
  const std::string larger = fmt::format("max({}, {})", heads.head, heads.value);
  return fmt::format("max({0}, {1} / (1 + ({2} > {3}) + 2 * ({2} > {4})))", least, count, larger, usual, 2 * usual);
}

std::string row_bounds_bytes(const std::string& rows) {
  return fmt::format("8 * {} + 16", rows);
}

double attention_clocks(const Problem& problem, const DeviceFacts& gpu, const BlockShape& block,
                        const PanelWork& work) {
  // Units work side by side, and what limits a block hides most of the rest.
  const double longest = std::max({work.arithmetic, work.tensor, work.special, work.shared});
  const double sum = work.arithmetic + work.tensor + work.special + work.shared;
  constexpr double k_not_hidden = 0.3, k_barriers = 60.0;
  const double per_panel = longest + k_not_hidden * (sum - longest);
  return attention_clocks(problem, gpu, block, [&](std::int64_t together, double panels) {
    const auto blocks = static_cast<double>(together);
    const double warps = blocks * static_cast<double>(block.threads) / 32.0;
    const double busy = warps / (warps + block.warps_to_half);
    return blocks * (panels * per_panel / busy + 2.0 * per_panel + 500.0) + panels * k_barriers;
  });
}

double attention_clocks(const Problem& problem, const DeviceFacts& gpu, const BlockShape& block,
                        const std::function<double(std::int64_t together, double panels)>& clocks_of) {
  const std::int64_t resident = resident_blocks(
      *gpu.gpu, {block.threads, std::min(block.registers, gpu.gpu->max_registers_per_thread), block.shared_bytes});
  if (resident == 0) return std::numeric_limits<double>::infinity();
  const Axes& axes = problem.primary().axes;
  const std::int64_t units = std::max<std::int64_t>(gpu.compute_units, 1);
  const std::int64_t packed = block.pack_gqa ? axes.at("Hq") / axes.at("Hkv") : 1;
  const std::int64_t all_panels = ceil_div(axes.at("Skv"), block.keys);
  const std::int64_t tiles = axes.at("B") * axes.at("Hq") / packed * ceil_div(axes.at("Sq") * packed, block.rows);
  const std::int64_t parts =
      std::clamp<std::int64_t>(units * block.blocks_per_unit / std::max<std::int64_t>(tiles, 1), 1, all_panels);
  const std::int64_t blocks = tiles * parts;
  const double panels = static_cast<double>(all_panels) / static_cast<double>(parts) * panel_share(problem, block);
  const std::int64_t waves = blocks / (units * resident);
  const std::int64_t rest = ceil_div(blocks - waves * units * resident, units);
  // Rows of different lengths blur the waves: a block that is short makes room for the next.
  return static_cast<double>(waves) * clocks_of(resident, panels) + (rest > 0 ? clocks_of(rest, panels) : 0.0);
}

std::vector<IntBindings> legal_assignments(const std::vector<Tunable>& tunables,
                                           const std::vector<std::string>& constraints, const DeviceFacts& device) {
  std::vector<IntBindings> all = {{}};
  for (const Tunable& tunable : tunables) {
    std::vector<IntBindings> more;
    for (const IntBindings& one : all)
      for (const std::int64_t value : tunable.values) {
        more.push_back(one);
        more.back()[tunable.name] = value;
      }
    all = std::move(more);
  }
  // Parsed once: an assignment takes less than a text, and there are thousands.
  const auto parsed = parse_int_exprs(constraints);
  KW_CHECK(parsed.has_value(), "{}", parsed.error().to_string());
  IntBindings names = gpu_facts_for(device).bindings();
  const auto is_illegal = [&](const IntBindings& assignment) {
    for (const auto& [name, value] : assignment) names[name] = value;
    return std::any_of(parsed->begin(), parsed->end(),
                       [&](const IntExpr& constraint) { return value_of(constraint, names) == 0; });
  };
  std::erase_if(all, is_illegal);
  return all;
}

std::int64_t value_of(const std::string& text, const IntBindings& names) {
  const auto value = evaluate_int_expr(text, names);
  KW_CHECK(value.has_value(), "{} in {}", value.error().to_string(), text);
  return *value;
}

std::int64_t value_of(const IntExpr& expression, const IntBindings& names) {
  const auto value = expression.evaluate(names);
  KW_CHECK(value.has_value(), "{} in {}", value.error().to_string(), expression.text());
  return *value;
}

ModCost mod_cost(const Problem& problem) {
  ModCost cost;
  const AttentionSpec& attention = *attention_of(problem);
  const auto add = [&](const ModFunction& mod) {
    const std::vector<Dependencies> inputs = dependencies(mod);
    for (std::size_t i = 0; i < mod.nodes.size(); ++i) {
      if (!inputs[i].key && !inputs[i].score) continue;
      const ExprOp op = mod.nodes[i].op;
      const bool is_special = op == ExprOp::tanh || op == ExprOp::exp || op == ExprOp::exp2 || op == ExprOp::log ||
                              op == ExprOp::log2 || op == ExprOp::sqrt || op == ExprOp::rsqrt || op == ExprOp::sigmoid;
      constexpr double k_around_special = 10.0;
      cost.special += is_special ? 1.0 : 0.0;
      cost.plain += is_special ? k_around_special : 1.0;
    }
  };
  if (attention.apart.score_mod) add(*attention.apart.score_mod);
  if (attention.apart.mask_mod) {
    ModFunction mask = *attention.apart.mask_mod;
    if (!row_interval(mask)) add(mask);
  }
  return cost;
}

}  // namespace kw
