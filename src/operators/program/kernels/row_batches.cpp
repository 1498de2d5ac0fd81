#include "operators/program/kernels/row_batches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_most_elements = 16;
/// Elements of loops that are unrolled whole.
constexpr double k_unrolled = 128;

std::string count_text(const StageAxes& columns, KernelScope& scope) {
  if (columns.empty()) return "1";
  return join(columns, " * ", [&](const StageAxis& axis) { return scope.extent(axis.extent); });
}

/// The index of an element among the row's.
std::string flat_index(const RowSharing& sharing) {
  return "start + part * " + sharing.slices;
}

/// A constant of the kernel: no more elements than a work-item usually has.
std::string batch_size(const StageAxes& columns, const RowSharing& sharing) {
  auto name = row_elements().name;
  const auto share = std::ceil(count_of(columns) / static_cast<double>(sharing.usual_slices));
  if (share >= static_cast<double>(k_most_elements)) return name;
  const auto most = std::max(static_cast<std::int64_t>(share), std::int64_t{1});
  return most == 1 ? "1" : fmt::format("{0} < {1} ? {0} : {1}", name, most);
}

/// Indices along several axes that advance by the same number of elements each time. Axis i has the variable next_i.
class Odometer {
 public:
  Odometer(const StageAxes& columns, KernelScope& scope, std::string step)
      : columns_(columns), scope_(scope), step_(std::move(step)) {
    for (const auto& axis : columns_) {
      next_.push_back(scope_.new_name("next_" + scope_.axis(axis.name)));
      steps_.push_back(scope_.new_name("step_" + scope_.axis(axis.name)));
    }
  }

  /// The place of element `slice`, and what a step adds along each axis.
  void begin(BodyWriter& body) const {
    std::string inner;
    std::vector<std::string> lines;
    for (std::size_t i = columns_.size(); i-- > 0;) {
      const auto digit = [&](const std::string& number) {
        const auto place = inner.empty() ? number : fmt::format("{} / ({})", number, inner);
        return i == 0 ? place : fmt::format("{} % {}", place, extent(i));
      };
      lines.push_back(fmt::format("int {} = {};", next_[i], digit("slice")));
      lines.push_back(fmt::format("const int {} = {};", steps_[i], digit(step_)));
      inner = inner.empty() ? extent(i) : extent(i) + " * " + inner;
    }
    body.lines(lines);
  }

  /// Indices of the element that is next. Behind the row's end they are those of some element of it.
  void indices(BodyWriter& body) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (scope_.used_axes().count(columns_[i].name) == 0) continue;
      body.line(i == 0
                    ? fmt::format("const int {} = min({}, {} - 1);", scope_.axis(columns_[i].name), next_[i], extent(i))
                    : fmt::format("const int {} = {};", scope_.axis(columns_[i].name), next_[i]));
    }
  }

  void advance(BodyWriter& body) const {
    for (std::size_t i = columns_.size(); i-- > 0;) {
      body.line(fmt::format("{} += {};", next_[i], steps_[i]));
      if (i == 0) continue;
      body.open(fmt::format("if ({} >= {})", next_[i], extent(i)));
      body.line(fmt::format("{} -= {};", next_[i], extent(i)));
      body.line(fmt::format("++{};", next_[i - 1]));
      body.close();
    }
  }

 private:
  [[nodiscard]] std::string extent(std::size_t i) const { return scope_.extent(columns_[i].extent); }

  const StageAxes& columns_;
  KernelScope& scope_;
  std::string step_;
  std::vector<std::string> next_, steps_;
};

void write_reads(BodyWriter& body, const std::string& live, const BatchText& text) {
  if (text.guard.empty()) {
    body.lines(text.reads);
    return;
  }
  body.lines(text.guard_values);
  body.line(fmt::format("counted[part] = {} && ({});", live, text.guard));
  body.open("if (counted[part])");
  body.lines(text.reads);
  body.close();
}

}  // namespace

Tunable row_elements() {
  return {"ROW_ELEMENTS", {1, 2, 4, 8, k_most_elements}, 8};
}

std::string counts_in_batch(const StageAxes& columns, KernelScope& scope, const RowSharing& sharing,
                            const BatchText& text) {
  if (!text.guard.empty()) return "if (counted[part])";
  return fmt::format("if ({} < {})", flat_index(sharing), count_text(columns, scope));
}

void write_batches(BodyWriter& body, const StageAxes& columns, KernelScope& scope, const RowSharing& sharing,
                   const BatchText& text) {
  const auto count = count_text(columns, scope);
  const bool several = columns.size() > 1;
  const Odometer odometer(columns, scope, sharing.slices);
  body.line(fmt::format("const int batch = {};", batch_size(columns, sharing)));
  if (several) odometer.begin(body);
  body.open(fmt::format("for (int start = slice; start < {}; start += {} * batch)", count, sharing.slices));
  body.lines(text.arrays);
  if (!text.guard.empty()) body.line("bool counted[batch];");
  body.line("#pragma unroll");
  body.open("for (int part = 0; part < batch; ++part)");
  if (several) {
    odometer.indices(body);
  } else if (!columns.empty() && scope.used_axes().count(columns[0].name) > 0) {
    body.line(fmt::format("const int {} = min({}, {} - 1);", scope.axis(columns[0].name), flat_index(sharing), count));
  }
  write_reads(body, fmt::format("{} < {}", flat_index(sharing), count), text);
  if (several) odometer.advance(body);
  body.close();
  body.lines(text.before);
  body.line("#pragma unroll");
  body.open("for (int part = 0; part < batch; ++part)");
  body.open(counts_in_batch(columns, scope, sharing, text));
  body.lines(text.uses);
  body.close();
  body.close();
  body.lines(text.after);
  body.close();
}

void write_nested_loops(BodyWriter& body, const StageAxes& columns, KernelScope& scope,
                        const std::vector<std::string>& statements) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& axis = columns[i];
    const auto index = scope.axis(axis.name);
    const StageAxes nested(columns.begin() + static_cast<std::ptrdiff_t>(i), columns.end());
    const bool constant =
        std::all_of(nested.begin(), nested.end(), [](const auto& one) { return one.extent.is_constant(); });
    if (constant && count_of(nested) <= k_unrolled) body.line("#pragma unroll");
    body.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", index, scope.extent(axis.extent)));
  }
  body.lines(statements);
  for (std::size_t i = 0; i < columns.size(); ++i) body.close();
}

}  // namespace kw
