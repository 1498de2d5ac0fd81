#include "operators/program/kernels/row_batches.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "program/stages/work.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_most_elements = 16;
/// Elements of loops that are unrolled whole.
constexpr double k_unrolled = 128;

std::string extent_text(const StageAxes& columns, std::size_t i, KernelScope& scope, const BatchText& text) {
  return i == 0 && !text.length.empty() ? text.length_name : scope.extent(columns[i].extent);
}

std::string count_text(const StageAxes& columns, KernelScope& scope, const BatchText& text) {
  if (columns.empty()) return "1";
  std::vector<std::string> extents;
  for (std::size_t i = 0; i < columns.size(); ++i) extents.push_back(extent_text(columns, i, scope, text));
  return fmt::format("{}", fmt::join(extents, " * "));
}

/// The index of an element among the row's, or of its four among the row's fours.
std::string flat_index(const RowSharing& sharing, const std::string& part = "part") {
  return fmt::format("start + {} * {}", part, sharing.slices);
}

double elements_of_item(const StageAxes& columns, const RowSharing& sharing) {
  return std::ceil(count_of(columns) / static_cast<double>(sharing.usual_slices));
}

/// As batch_size(), in whole fours.
std::string batch_of_fours(const StageAxes& columns, const RowSharing& sharing) {
  const auto share = elements_of_item(columns, sharing);
  const auto name = sharing.elements.name;
  if (share >= static_cast<double>(k_most_elements)) return fmt::format("{0} < 4 ? 4 : {0}", name);
  return share < 8.0 ? "4" : fmt::format("{} < 8 ? 4 : 8", name);
}

/// Indices along several axes that advance by the same number of elements each time, or of fours along the last axis.
/// Axis i has the variable next_i.
class Odometer {
 public:
  Odometer(const StageAxes& columns, KernelScope& scope, std::string step, const BatchText& text, bool in_fours)
      : columns_(columns), scope_(scope), step_(std::move(step)), text_(text), in_fours_(in_fours) {
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
      if (in_fours_ && i + 1 == columns_.size()) {
        body.line(fmt::format("int {} = {} * 4;", scope_.axis(columns_[i].name), next_[i]));
        continue;
      }
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
  [[nodiscard]] std::string extent(std::size_t i) const {
    const auto whole = extent_text(columns_, i, scope_, text_);
    return in_fours_ && i + 1 == columns_.size() ? fmt::format("({} / 4)", whole) : whole;
  }

  const StageAxes& columns_;
  KernelScope& scope_;
  std::string step_;
  const BatchText& text_;
  bool in_fours_;
  std::vector<std::string> next_, steps_;
};

void write_length(BodyWriter& body, const BatchText& text) {
  if (!text.length.empty()) body.line(fmt::format("const int {} = {};", text.length_name, text.length));
}

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

/// A batch's four of elements from `four` on; `column` is the last axis' variable.
void write_four_reads(BodyWriter& body, const std::string& live, const std::string& column, const FourText& fours,
                      const std::string& first) {
  const auto& text = fours.text;
  if (!text.guard.empty()) {
    body.lines(text.guard_values);
    body.line(fmt::format("counted[four / 4] = {} && ({});", live, text.guard));
    body.open("if (counted[four / 4])");
  }
  body.line(fmt::format("const int {} = {};", first, column));
  body.lines(fours.loads);
  body.line("#pragma unroll");
  body.open("for (int part = four; part < four + 4; ++part)");
  body.line(fmt::format("{} = {} + part % 4;", column, first));
  body.lines(fours.elements);
  body.lines(text.reads);
  body.close();
  if (!text.guard.empty()) body.close();
}

void write_four_uses(BodyWriter& body, const RowSharing& sharing, const FourText& fours) {
  body.line("#pragma unroll");
  if (fours.uses.empty()) {
    body.open("for (int part = 0; part < batch; ++part)");
    body.open(counts_in_fours(sharing, fours.text));
    body.lines(fours.text.uses);
  } else {
    body.open("for (int four = 0; four < batch; four += 4)");
    body.open(fmt::format("if ({} < fours)", flat_index(sharing, "four / 4")));
    body.lines(fours.uses);
  }
  body.close();
  body.close();
}

void write_fours(BodyWriter& body, const StageAxes& columns, KernelScope& scope, const RowSharing& sharing,
                 const FourText& fours) {
  const auto& text = fours.text;
  const bool several = columns.size() > 1;
  const auto column = scope.axis(columns.back().name);
  const auto first = scope.new_name("first_" + column);
  const Odometer odometer(columns, scope, sharing.slices, text, true);
  const auto index = flat_index(sharing, "four / 4");
  body.line(fmt::format("const int batch = {};", batch_of_fours(columns, sharing)));
  write_length(body, text);
  body.line(fmt::format("const int fours = {} / 4;", count_text(columns, scope, text)));
  if (several) odometer.begin(body);
  body.open(fmt::format("for (int start = slice; start < fours; start += {} * (batch / 4))", sharing.slices));
  body.lines(text.arrays);
  if (!text.guard.empty()) body.line("bool counted[batch / 4];");
  body.line("#pragma unroll");
  body.open("for (int four = 0; four < batch; four += 4)");
  if (several) {
    odometer.indices(body);
  } else {
    body.line(fmt::format("int {} = min({}, fours - 1) * 4;", column, index));
  }
  write_four_reads(body, index + " < fours", column, fours, first);
  if (several) odometer.advance(body);
  body.close();
  body.lines(text.before);
  write_four_uses(body, sharing, fours);
  body.lines(text.after);
  body.close();
}

/// One batch, from element `start` on.
void write_batch(BodyWriter& body, const StageAxes& columns, KernelScope& scope, const RowSharing& sharing,
                 const Odometer& odometer, const BatchText& text) {
  const auto count = count_text(columns, scope, text);
  const bool several = columns.size() > 1;
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
}

}  // namespace

std::string batch_size(const StageAxes& columns, const RowSharing& sharing) {
  auto name = sharing.elements.name;
  const auto share = elements_of_item(columns, sharing);
  if (share >= static_cast<double>(k_most_elements)) return name;
  const auto most = std::max(static_cast<std::int64_t>(share), std::int64_t{1});
  return most == 1 ? "1" : fmt::format("{0} < {1} ? {0} : {1}", name, most);
}

std::string place_in_batch(const RowSharing& sharing) {
  return flat_index(sharing);
}

std::string place_in_fours(const RowSharing& sharing) {
  return flat_index(sharing, "four / 4");
}

std::string counts_in_batch(const StageAxes& columns, KernelScope& scope, const RowSharing& sharing,
                            const BatchText& text) {
  if (!text.guard.empty()) return "if (counted[part])";
  return fmt::format("if ({} < {})", flat_index(sharing), count_text(columns, scope, text));
}

bool has_fours(const StageAxes& columns, const RowSharing& sharing) {
  return !columns.empty() && elements_of_item(columns, sharing) >= 4.0;
}

std::string counts_in_fours(const RowSharing& sharing, const BatchText& text) {
  if (!text.guard.empty()) return "if (counted[part / 4])";
  return fmt::format("if ({} < fours)", flat_index(sharing, "part / 4"));
}

void write_batches(BodyWriter& body, const StageAxes& columns, KernelScope& scope, const RowSharing& sharing,
                   const BatchText& text, const FourText& fours) {
  body.open(fmt::format("if ({})", fmt::join(fours.conditions, " && ")));
  write_fours(body, columns, scope, sharing, fours);
  body.close();
  body.open("else");
  write_batches(body, columns, scope, sharing, text);
  body.close();
}

void write_batches(BodyWriter& body, const StageAxes& columns, KernelScope& scope, const RowSharing& sharing,
                   const BatchText& text, const std::optional<BatchText>& first) {
  const Odometer odometer(columns, scope, sharing.slices, text, false);
  body.line(fmt::format("const int batch = {};", batch_size(columns, sharing)));
  write_length(body, text);
  if (columns.size() > 1) odometer.begin(body);
  std::string begin = "slice";
  if (first) {
    body.open("");
    body.line("const int start = slice;");
    write_batch(body, columns, scope, sharing, odometer, *first);
    body.close();
    begin = fmt::format("slice + {} * batch", sharing.slices);
  }
  body.open(fmt::format("for (int start = {}; start < {}; start += {} * batch)", begin,
                        count_text(columns, scope, text), sharing.slices));
  write_batch(body, columns, scope, sharing, odometer, text);
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
