#include "tests/programs/module_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kw {
namespace {

/// Elements of an input; the interpreter of stages takes some microseconds for each that is read.
constexpr std::int64_t k_most_elements = 700;
constexpr std::int64_t k_most_result = 4096;
/// Larger numbers are made smaller again, so that no chain of steps leaves f32.
constexpr double k_most_magnitude = 64.0;

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

ModuleDim combined(const ModuleDim& a, const char* symbol, const ModuleDim& b, std::int64_t value) {
  if (is_number(a.text) && is_number(b.text)) return dim_of(value);
  return {value, fmt::format("({} {} {})", a.text, symbol, b.text)};
}

std::int64_t elements_in(const std::vector<ModuleDim>& shape) {
  std::int64_t count = 1;
  for (const auto& dim : shape) count *= dim.value;
  return count;
}

/// An argument of one to five axes; images, with larger ones at the end, more often than others.
ModuleValue drawn_input(Rng& rng, const std::vector<ModuleAxis>& axes) {
  ModuleValue input{"torch.randn", {}, {}, {}, true, ModuleElements::exact, 4.0};
  const std::int64_t ranks[] = {1, 2, 2, 3, 3, 4, 4, 4, 5};
  const auto rank = ranks[rng.below(std::ssize(ranks))];
  for (std::int64_t i = 0; i < rank; ++i) {
    const auto& axis = axes[static_cast<std::size_t>(rng.below(std::ssize(axes)))];
    const bool fits = elements_in(input.shape) * axis.extent <= k_most_elements;
    input.shape.push_back(fits ? ModuleDim{axis.extent, axis.name} : dim_of(rng.below(2) + 1));
  }
  return input;
}

std::vector<DrawnRow> all_rows() {
  std::vector<DrawnRow> rows;
  for (const auto part :
       {elementwise_module_rows(), reduction_module_rows(), layout_module_rows(), indexing_module_rows(),
        product_module_rows(), window_module_rows(), norm_module_rows(), loss_module_rows()}) {
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

const DrawnRow& drawn_row(Rng& rng, const std::vector<DrawnRow>& rows) {
  std::int64_t all = 0;
  for (const auto& row : rows) all += row.weight;
  std::int64_t at = rng.below(all);
  for (const auto& row : rows) {
    at -= row.weight;
    if (at < 0) return row;
  }
  return rows.back();
}

/// False where the row found nothing that suits it, or made too much of it.
bool add_step(Rng& rng, RandomModule& module, const DrawnRow& row) {
  const std::size_t known = module.values.size();
  ModuleDrawer drawer(rng, module);
  auto step = row.draw(drawer);
  if (!step || elements_in(step->shape) > k_most_result) {
    module.values.resize(known);
    return false;
  }
  if (step->most > k_most_magnitude) {
    step->text = fmt::format("({}) * {:.3g}", step->text, 4.0 / step->most);
    step->most = 4.0;
    step->elements = ModuleElements::rounded;
  }
  module.values.push_back(*std::move(step));
  return true;
}

}  // namespace

ModuleDim dim_of(std::int64_t value) {
  return {value, std::to_string(value)};
}
ModuleDim operator+(const ModuleDim& a, const ModuleDim& b) {
  return b.text == "0" ? a : combined(a, "+", b, a.value + b.value);
}
ModuleDim operator-(const ModuleDim& a, const ModuleDim& b) {
  return b.text == "0" ? a : combined(a, "-", b, a.value - b.value);
}
ModuleDim operator*(const ModuleDim& a, const ModuleDim& b) {
  if (a.text == "1") return b;
  return b.text == "1" ? a : combined(a, "*", b, a.value * b.value);
}
ModuleDim floor_divided(const ModuleDim& a, std::int64_t by) {
  return by == 1 ? a : combined(a, "//", dim_of(by), a.value / by);
}

std::optional<std::size_t> ModuleDrawer::pick(std::size_t least_rank, std::size_t most_rank) {
  return pick_if(
      [=](const ModuleValue& one) { return one.shape.size() >= least_rank && one.shape.size() <= most_rank; });
}

std::optional<std::size_t> ModuleDrawer::pick_if(const std::function<bool(const ModuleValue&)>& suits) {
  std::vector<std::size_t> able;
  for (std::size_t i = 0; i < module_.values.size(); ++i) {
    const auto& one = module_.values[i];
    if (one.elements != ModuleElements::integers && suits(one)) able.push_back(i);
  }
  if (able.empty()) return std::nullopt;
  const auto last = std::ssize(able) - 1;
  return able[static_cast<std::size_t>(std::max(rng_.below(last + 1), rng_.below(last + 1)))];
}

std::size_t ModuleDrawer::partner(std::size_t index) {
  const auto wanted = shape_list(value(index).shape);
  return pick_if([&](const ModuleValue& one) { return shape_list(one.shape) == wanted; }).value_or(index);
}

std::size_t ModuleDrawer::axis_of(std::size_t index) {
  return static_cast<std::size_t>(rng_.below(std::ssize(value(index).shape)));
}

std::string ModuleDrawer::spelled(std::size_t axis, std::size_t rank) {
  const auto from_start = static_cast<std::int64_t>(axis);
  return std::to_string(chance(2) ? from_start : from_start - static_cast<std::int64_t>(rank));
}

std::size_t ModuleDrawer::add_integers(const std::string& text, std::vector<ModuleDim> shape) {
  module_.values.push_back({text, {}, {}, std::move(shape), true, ModuleElements::integers, 0.0});
  return module_.values.size() - 1;
}

ModuleDim ModuleDrawer::new_size() {
  if (chance(2)) return dim_of(between(1, 9));
  const auto& axis = module_.axes[static_cast<std::size_t>(rng_.below(std::ssize(module_.axes)))];
  return {axis.extent, axis.name};
}

RandomModule draw_module(Rng& rng, int steps) {
  static const auto k_rows = all_rows();
  RandomModule module;
  module.data_seed = rng.next();
  for (const char* name : {"na", "nb", "nc", "nd", "ne"}) {
    const std::int64_t extents[] = {1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 12, 17};
    module.axes.push_back({name, extents[rng.below(std::ssize(extents))]});
  }
  const auto inputs = 1 + rng.below(3);
  for (std::int64_t i = 0; i < inputs; ++i) module.values.push_back(drawn_input(rng, module.axes));
  for (int made = 0; made < steps;) made += add_step(rng, module, drawn_row(rng, k_rows)) ? 1 : 0;
  return module;
}

}  // namespace kw
