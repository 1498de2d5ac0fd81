// The neighborhood problems against NATTEN's rule, written once more from its description with lists of pixels instead
// of arithmetic: along each axis a query's group is listed, the leader of its stride is found, and a window of K
// members is slid until it lies within the list.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/file_system.hpp"
#include "base/rng.hpp"
#include "mod/analysis/row_evaluator.hpp"
#include "operators/attention/attention.hpp"
#include "problem/problem.hpp"

namespace kw {
namespace {

struct AxisRule {
  std::int64_t kernel = 0;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  bool causal = false;
};
struct CanvasAxis {
  std::int64_t length = 0;
  AxisRule rule;
};
/// Outermost first.
using Canvas = std::vector<CanvasAxis>;

/// Coordinates along one axis that a query at `query` sees.
std::vector<std::int64_t> window(const CanvasAxis& axis, std::int64_t query) {
  const auto& rule = axis.rule;
  std::vector<std::int64_t> group;
  for (std::int64_t x = query % rule.dilation; x < axis.length; x += rule.dilation) group.push_back(x);
  const auto place = std::find(group.begin(), group.end(), query) - group.begin();
  // Queries of one stride share a leader: the last of them when causal, else the one right of their middle.
  std::vector<std::ptrdiff_t> stride;
  for (std::ptrdiff_t i = 0; i < std::ssize(group); ++i) {
    if (i / rule.stride == place / rule.stride) stride.push_back(i);
  }
  const auto wanted = rule.causal ? rule.stride - 1 : rule.stride / 2;
  const auto leader = stride[static_cast<std::size_t>(std::min<std::ptrdiff_t>(wanted, std::ssize(stride) - 1))];
  auto last = rule.causal ? leader : leader + (rule.kernel - 1) / 2;
  auto first = last - rule.kernel + 1;
  while (!rule.causal && first < 0) ++first, ++last;
  while (!rule.causal && last >= std::ssize(group)) --first, --last;
  std::vector<std::int64_t> seen;
  for (auto i = first; i <= last; ++i) {
    if (i >= 0 && (!rule.causal || i <= place)) seen.push_back(group[static_cast<std::size_t>(i)]);
  }
  return seen;
}

/// Keys that a query sees, row-major and sorted: all combinations of the axes' windows.
std::vector<std::int64_t> neighborhood(const Canvas& canvas, std::int64_t query) {
  std::vector<std::int64_t> coordinates(canvas.size());
  for (std::size_t i = canvas.size(); i-- > 0;) {
    coordinates[i] = query % canvas[i].length;
    query /= canvas[i].length;
  }
  std::vector<std::int64_t> keys = {0};
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    std::vector<std::int64_t> next;
    for (const auto key : keys) {
      for (const auto x : window(canvas[i], coordinates[i])) next.push_back(key * canvas[i].length + x);
    }
    keys = std::move(next);
  }
  return keys;
}

struct Variant {
  std::string problem;
  std::function<Canvas(const Axes&)> canvas;
  std::function<Axes(Rng&)> random;  ///< the axes that a small random canvas changes
  std::int64_t keys_per_query;       ///< 0: they differ
};

Axes sized(std::int64_t height, std::int64_t width) {
  return {{"Sq", height * width}, {"Skv", height * width}, {"Width", width}};
}
Axes sized(std::int64_t sequence) {
  return {{"Sq", sequence}, {"Skv", sequence}};
}

const std::vector<Variant> k_variants = {
    {"neighborhood_1d",
     [](const Axes& axes) {
       return Canvas{{axes.at("Skv"), {axes.at("Kernel")}}};
     },
     [](Rng& rng) {
       auto axes = sized(2 + rng.below(40));
       axes["Kernel"] = 2 + rng.below(axes.at("Skv") - 1);
       return axes;
     },
     0},
    {"neighborhood_2d",
     [](const Axes& axes) {
       const auto width = axes.at("Width");
       return Canvas{{axes.at("Sq") / width, {7}}, {width, {9}}};
     },
     [](Rng& rng) { return sized(7 + rng.below(12), 9 + rng.below(12)); }, 63},
    {"neighborhood_3d",
     [](const Axes& axes) {
       return Canvas{{axes.at("Sq") / 96, {3}}, {8, {5}}, {12, {7}}};
     },
     [](Rng& rng) { return sized(96 * (3 + rng.below(4))); }, 105},
    {"neighborhood_dilated",
     [](const Axes& axes) {
       return Canvas{{axes.at("Sq") / 23, {5, 1, 3}}, {23, {5, 1, 2}}};
     },
     [](Rng& rng) { return sized(23 * (15 + rng.below(9))); }, 25},
    {"neighborhood_strided",
     [](const Axes& axes) {
       const auto width = axes.at("Width");
       return Canvas{{axes.at("Sq") / width, {8, 4}}, {width, {12, 12}}};
     },
     [](Rng& rng) { return sized(8 + rng.below(12), 12 + rng.below(15)); }, 96},
    {"neighborhood_causal",
     [](const Axes& axes) {
       return Canvas{{axes.at("Sq") / 77, {4, 2, 1, true}}, {7, {5}}, {11, {5}}};
     },
     [](Rng& rng) { return sized(77 * (4 + rng.below(4))); }, 0},
    {"neighborhood_even",
     [](const Axes& axes) {
       const auto width = axes.at("Width");
       return Canvas{{axes.at("Sq") / width, {6}}, {width, {4}}};
     },
     [](Rng& rng) { return sized(6 + rng.below(12), 4 + rng.below(12)); }, 24},
};

void expect_the_rule(const Variant& variant, const ModFunction& mask, const Axes& axes, const std::string& label) {
  ModRowEvaluator evaluator(mask, axes);
  std::vector<double> row(static_cast<std::size_t>(axes.at("Skv")));
  for (std::int64_t query = 0; query < axes.at("Sq"); ++query) {
    evaluator.run({0, 0, query}, 0, row);
    std::vector<std::int64_t> seen;
    for (std::size_t key = 0; key < row.size(); ++key) {
      if (row[key] != 0.0) seen.push_back(static_cast<std::int64_t>(key));
    }
    ASSERT_EQ(seen, neighborhood(variant.canvas(axes), query)) << label << " query " << query;
    if (variant.keys_per_query > 0) {
      ASSERT_EQ(std::ssize(seen), variant.keys_per_query) << label;
    }
  }
}

TEST(Neighborhood, follows_the_rule_on_the_problems_workloads_and_on_random_canvases) {
  constexpr std::uint64_t k_seed = 20;
  Rng rng(k_seed);
  for (const auto& variant : k_variants) {
    const auto problem = load_problem("attention/" + variant.problem, RealFileSystem{}, {"problems"}).value();
    const auto& mask = *attention_of(problem)->mask_mod;
    for (const auto& workload : problem.workloads) {
      if (workload.role != WorkloadRole::primary) {
        expect_the_rule(variant, mask, workload.axes, variant.problem + " " + workload.name);
      }
    }
    for (int round = 0; round < 5; ++round) {
      auto axes = problem.primary().axes;
      std::string label = fmt::format("{} seed {} round {}", variant.problem, k_seed, round);
      for (const auto& [axis, extent] : variant.random(rng)) {
        axes[axis] = extent;
        label += fmt::format(" {}={}", axis, extent);
      }
      expect_the_rule(variant, mask, axes, label);
    }
  }
}

/// The simplification that the even problem is there to catch: a clamped centre and a distance of at most K // 2.
TEST(Neighborhood, is_not_the_clamped_centre_when_the_window_is_even) {
  const CanvasAxis even{12, {4}};
  for (std::int64_t query = 0; query < even.length; ++query) {
    const auto centre = std::clamp<std::int64_t>(query, 2, even.length - 3);
    std::int64_t simplified = 0;
    for (std::int64_t key = 0; key < even.length; ++key) simplified += std::abs(key - centre) <= 2 ? 1 : 0;
    EXPECT_EQ(simplified, 5);
    EXPECT_EQ(window(even, query).size(), 4U);
  }
}

}  // namespace
}  // namespace kw
