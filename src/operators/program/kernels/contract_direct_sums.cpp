#include "operators/program/kernels/contract_direct_sums.hpp"

#include <algorithm>

#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_direct_shape.hpp"
#include "operators/program/kernels/contract_taps.hpp"
#include "operators/program/kernels/contract_text.hpp"

namespace kw {
namespace {

constexpr int k_last_bit = 31;  ///< of a pixel: it is there without guards

}  // namespace

std::string direct_section(const char* name, const Fillings& fillings) {
  return fill_lines(kernel_text("program/direct.cu", name), fillings);
}

DirectSums::DirectSums(const std::string& image, const Contraction& contraction, const DirectContraction& direct,
                       KernelScope& scope)
    : image_(image), contraction_(contraction), direct_(direct), columns_(contraction.columns), scope_(scope) {
  for (const auto& axis : columns_) {
    first_.push_back(scope_.new_name("first_" + scope_.axis(axis.name)));
    apart_.push_back(scope_.new_name("apart_" + scope_.axis(axis.name)));
    next_.push_back(scope_.new_name("next_" + scope_.axis(axis.name)));
  }
}

std::string DirectSums::first_pixel() {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto after = columns_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    const auto inside = count({after, columns_.end()});
    const auto extent = scope_.extent(columns_[i].extent);
    for (const auto& [name, flat] : {std::pair(first_[i], "first_n"), std::pair(apart_[i], "DIRECT_THREADS")}) {
      auto index = inside == "1" ? std::string(flat) : fmt::format("{} / {}", flat, inside);
      if (i != 0) index = fmt::format("{} % {}", index, extent);
      lines.push_back(fmt::format("const int {} = {};", name, index));
    }
  }
  return join_lines(lines);
}

std::string DirectSums::begin_pixels() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < columns_.size(); ++i) lines.push_back(fmt::format("int {} = {};", next_[i], first_[i]));
  return join_lines(lines);
}

std::string DirectSums::next_pixel() {
  std::vector<std::string> lines;
  for (std::size_t i = columns_.size(); i-- > 0;) {
    lines.push_back(fmt::format("{} += {};", next_[i], apart_[i]));
    if (i == 0) continue;
    const auto extent = scope_.extent(columns_[i].extent);
    lines.push_back(fmt::format("if ({0} >= {1}) {{\n  {0} -= {1};\n  ++{2};\n}}", next_[i], extent, next_[i - 1]));
  }
  return join_lines(lines);
}

/// Behind the last pixel, those of the first batch: elements that are there.
std::string DirectSums::loaded_pixel(const std::set<std::string>& used) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (used.count(columns_[i].name) == 0) continue;
    lines.push_back(fmt::format("const int {} = {};", scope_.axis(columns_[i].name),
                                i == 0 ? fmt::format("within ? {} : 0", next_[i]) : next_[i]));
  }
  return join_lines(lines);
}

std::string DirectSums::sums(const std::string& again, bool declares) {
  Fillings fillings = {
      {"places", std::to_string(direct_places(direct_))},
      {"chunk", std::to_string(direct_places(direct_) / (direct_.taps() * direct_.written()))},
      {"again", again},
      {"declare_sums",
       declares ? fmt::format("float sums[{}][DIRECT_PIXELS][DIRECT_CHANNELS];", direct_.phases()) : ""},
      {"row_count", count(contraction_.rows)},
      {"column_count", count(columns_)},
      {"phases", std::to_string(direct_.phases())},
      {"taps", std::to_string(direct_.taps())},
      {"written", std::to_string(direct_.written())},
      {"step_count", scope_.extent(direct_.inner[0].extent)}};
  fill_pixels(fillings);
  fill_filter(fillings);
  fill_steps(fillings);
  return direct_section("sums", fillings);
}

void DirectSums::fill_pixels(Fillings& fillings) {
  auto used = axes_in(direct_.start);
  for (const auto* guards : {&direct_.pixel_guards, &direct_.tap_guards}) {
    for (const auto& guard : *guards) used.merge(axes_named(guard));
  }
  for (const auto& load : direct_.loads) {
    for (const auto& guard : load.guards) used.merge(axes_named(guard));
  }
  fillings.emplace_back("begin_pixels", begin_pixels());
  fillings.emplace_back("next_pixel", next_pixel());
  fillings.emplace_back("loaded_pixel", loaded_pixel(used));
  fillings.emplace_back("from", address_text(scope_, direct_.start, pixel_axes(), true));
  fillings.emplace_back("declare_inside", is_guarded() ? "unsigned inside[DIRECT_PIXELS];" : "");
  fillings.emplace_back("inside", is_guarded() ? inside() : "");
}

StageAxes DirectSums::pixel_axes() const {
  return joined_axes(joined_axes(direct_.around, direct_.windows), columns_);
}

bool DirectSums::is_guarded() const {
  return !direct_.pixel_guards.empty() || !direct_.tap_guards.empty() ||
         std::ranges::any_of(direct_.loads, [](const DirectLoad& load) { return !load.guards.empty(); });
}

std::int64_t DirectSums::first_load_bit() const {
  std::int64_t bits = 0;
  for (const auto& axis : direct_.guarded) bits += axis.extent.value();
  return bits;
}

std::string DirectSums::load_bit(std::size_t load) const {
  if (direct_.loads[load].guards.empty()) return fmt::format("1u << {}", k_last_bit);
  const auto before = std::count_if(direct_.loads.begin(), direct_.loads.begin() + static_cast<std::ptrdiff_t>(load),
                                    [](const DirectLoad& one) { return !one.guards.empty(); });
  return fmt::format("1u << {}", first_load_bit() + before);
}

std::string DirectSums::inside() {
  const auto always = condition_text(scope_, direct_.pixel_guards);
  const std::string within = always.empty() ? "within" : "within && " + always;
  std::vector<std::string> lines = {fmt::format("inside[i] = {} ? 1u << {} : 0u;", within, k_last_bit)};
  if (!direct_.guarded.empty())
    lines.push_back(taps_statements(scope_, direct_.guarded, direct_.tap_guards, within, "inside"));
  for (std::size_t i = 0; i < direct_.loads.size(); ++i) {
    const auto& guards = direct_.loads[i].guards;
    if (guards.empty()) continue;
    lines.push_back(fmt::format("if ({} && {}) inside[i] |= {};", within, condition_text(scope_, guards), load_bit(i)));
  }
  return join_lines(lines);
}

/// Bits that a pixel has where the step's taps are inside.
std::string DirectSums::needed() const {
  std::string bits;
  std::int64_t first = 0;
  for (const auto& axis : direct_.guarded) {
    bits += fmt::format("{}1u << {}{}", bits.empty() ? "" : " | ",
                        first == 0 ? scope_.axis(axis.name) : fmt::format("({} + {}", scope_.axis(axis.name), first),
                        first == 0 ? "" : ")");
    first += axis.extent.value();
  }
  return bits;
}

void DirectSums::fill_filter(Fillings& fillings) {
  const auto& first = contraction_.first;
  fillings.emplace_back("filter_element", guarded_text(scope_, first.element, first.guards));
  auto used = first.axes;
  for (const auto& guard : first.guards) used.merge(axes_named(guard));
  auto lines = index_statements(scope_, contraction_.rows, "m", used);
  for (auto& line : index_statements(scope_, direct_.inner, "k", used)) lines.push_back(std::move(line));
  const auto taps = direct_.tap.name.empty() ? 1 : direct_.tap.extent.value();
  const auto add = [&](const StageAxis& axis, const std::string& index) {
    if (used.count(axis.name) > 0) lines.push_back(fmt::format("const int {} = {};", scope_.axis(axis.name), index));
  };
  add(direct_.phase, fmt::format("place % {} / {}", direct_.written(), taps));
  add(direct_.tap, fmt::format("place % {}", taps));
  fillings.emplace_back("filter_axes", join_lines(lines));
}

std::string DirectSums::loops() {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < direct_.inner.size(); ++i) {
    const auto name = scope_.axis(direct_.inner[i].name);
    const auto* const unroll = i + 1 == direct_.inner.size() ? "DIRECT_UNROLL" : "1";
    const auto last = i == 0 ? "last_step" : std::to_string(direct_.inner[i].extent.value());
    lines.push_back(fmt::format("{0}#pragma unroll {1}\n{0}for (int {2} = {3}; {2} < {4}; ++{2})",
                                std::string(2 * i, ' '), unroll, name, i == 0 ? "first_step" : "0", last));
  }
  return join_lines(lines);
}

void DirectSums::fill_steps(Fillings& fillings) {
  const auto guard = condition_text(scope_, direct_.step_guards);
  fillings.emplace_back("loops", loops());
  fillings.emplace_back(
      "step", direct_section("step", {{"written", std::to_string(direct_.written())},
                                      {"step_guard", guard.empty() ? "" : fmt::format("if (!({})) continue;", guard)},
                                      {"step_from", address_text(scope_, direct_.start, direct_.inner, false)},
                                      {"here", here()},
                                      {"products", products()}}));
}

std::string DirectSums::here() const {
  return direct_.guarded.empty() ? "" : direct_section("here", {{"needed", needed()}});
}

/// Some loads are on their way at a time; products follow in the order of the loads, and of each sum in that of taps.
std::string DirectSums::products() {
  constexpr std::size_t k_at_a_time = 4;
  std::vector<std::string> lines;
  const auto& loads = direct_.loads;
  for (std::size_t first = 0; first < loads.size(); first += k_at_a_time) {
    const auto last = std::min(first + k_at_a_time, loads.size());
    std::vector<std::string> block = {fmt::format("float elements[{}][DIRECT_PIXELS];", last - first)};
    for (std::size_t i = first; i < last; ++i) block.push_back(load_text(i, i - first));
    for (std::size_t i = first; i < last; ++i) {
      for (const auto& use : direct_.uses) {
        if (use.load == i) block.push_back(product_text(use, i - first));
      }
    }
    lines.push_back(fill_lines("{\n  ${block}\n}", {{"block", join_lines(block)}}));
  }
  return join_lines(lines);
}

std::string DirectSums::load_text(std::size_t load, std::size_t place) {
  const auto apart = scope_.extent(direct_.loads[load].apart);
  auto element = fmt::format("{}[from[i] + step_from{}]", image_, apart == "0" ? "" : fmt::format(" + ({})", apart));
  if (is_guarded())
    element = fmt::format("({}[i] & {}) != 0 ? {} : 0.0f", direct_.guarded.empty() ? "inside" : "here", load_bit(load),
                          element);
  return direct_section("load", {{"load", std::to_string(place)}, {"element", element}});
}

std::string DirectSums::product_text(const DirectUse& use, std::size_t place) const {
  const auto taps = direct_.tap.name.empty() ? 1 : direct_.tap.extent.value();
  const auto of_filter = use.phase * taps + use.tap;
  return fmt::format("multiply_pixels(places{}, elements[{}], sums[{}]);",
                     of_filter == 0 ? "" : fmt::format(" + {} * DIRECT_CHANNELS", of_filter), place, use.phase);
}

std::string DirectSums::count(const StageAxes& axes) {
  return scope_.extent(extent_of(axes));
}

}  // namespace kw
