#pragma once
// How statements of random modules are drawn: a table of rows by theme. A row takes earlier values whose shapes suit
// its operator and computes the shape of its own result, so that what the reader finds can be compared with it.

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/programs/random_module.hpp"

namespace kw {

// Extents of results, as values and as Python.
[[nodiscard]] ModuleDim dim_of(std::int64_t value);
[[nodiscard]] ModuleDim operator+(const ModuleDim& a, const ModuleDim& b);
[[nodiscard]] ModuleDim operator-(const ModuleDim& a, const ModuleDim& b);
[[nodiscard]] ModuleDim operator*(const ModuleDim& a, const ModuleDim& b);
[[nodiscard]] ModuleDim floor_divided(const ModuleDim& a, std::int64_t by);

/// "na, 3"
[[nodiscard]] std::string shape_list(const std::vector<ModuleDim>& shape);

class ModuleDrawer {
 public:
  ModuleDrawer(Rng& rng, RandomModule& module) : rng_(rng), module_(module) {}

  /// From `least` to `most`.
  std::int64_t between(std::int64_t least, std::int64_t most) { return least + rng_.below(most - least + 1); }
  bool chance(std::int64_t one_in) { return rng_.below(one_in) == 0; }
  template <typename Item>
  Item one_of(std::initializer_list<Item> items) {
    return *(items.begin() + rng_.below(static_cast<std::int64_t>(items.size())));
  }
  /// "True" or "False"
  std::string truth() { return chance(2) ? "True" : "False"; }

  [[nodiscard]] const ModuleValue& value(std::size_t index) const { return module_.values[index]; }
  /// A real value with so many axes, later ones more often.
  std::optional<std::size_t> pick(std::size_t least_rank, std::size_t most_rank);
  std::optional<std::size_t> pick_if(const std::function<bool(const ModuleValue&)>& suits);
  /// A value of exactly that shape; itself where there is no other.
  std::size_t partner(std::size_t index);
  /// An axis of the value, and the same as Python may write it, from either end.
  std::size_t axis_of(std::size_t index);
  std::string spelled(std::size_t axis, std::size_t rank);

  /// A new argument of forward(), drawn as `text` says: "torch.randint(0, 5".
  std::size_t add_integers(const std::string& text, std::vector<ModuleDim> shape);
  /// A size of a new tensor: a small number, or an axis.
  ModuleDim new_size();

 private:
  Rng& rng_;
  RandomModule& module_;
};

struct DrawnRow {
  const char* name;
  std::int64_t weight;  ///< how often it is drawn, beside others
  /// Nothing where no value suits it.
  std::optional<ModuleValue> (*draw)(ModuleDrawer& drawer);
};

[[nodiscard]] std::span<const DrawnRow> elementwise_module_rows();
[[nodiscard]] std::span<const DrawnRow> reduction_module_rows();
[[nodiscard]] std::span<const DrawnRow> layout_module_rows();
[[nodiscard]] std::span<const DrawnRow> indexing_module_rows();
[[nodiscard]] std::span<const DrawnRow> product_module_rows();
[[nodiscard]] std::span<const DrawnRow> window_module_rows();
[[nodiscard]] std::span<const DrawnRow> norm_module_rows();
[[nodiscard]] std::span<const DrawnRow> loss_module_rows();

}  // namespace kw
