// Elements named by tensors of indices. An index outside of its axis gives NaN, where PyTorch raises an error.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "operators/program/oracle/answers.hpp"

namespace kw::program_oracle {
namespace {

constexpr double k_no_such_element = std::numeric_limits<double>::quiet_NaN();

/// The index that a number stands for; -1 where there is no such element.
std::int64_t checked_index(double number, std::int64_t extent) {
  return number >= 0.0 && number < static_cast<double>(extent) ? static_cast<std::int64_t>(number) : -1;
}

/// out[.., i, ..] = input[.., index[.., i, ..], ..]; the index may be smaller on the other axes.
Result<Answer> gather(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto index = call.tensor("index");
  const auto axis = call.axis("dim", input.rank());
  return each_element([input, index, axis, strides = strides_of(input.extents())](std::int64_t i) {
    if (input.rank() == 0) return input[0];
    const auto place = place_of(i, index.extents());
    const auto chosen = checked_index(index[i], input.extent(axis));
    if (chosen < 0) return k_no_such_element;
    std::int64_t at = chosen * strides[axis];
    for (std::size_t k = 0; k < strides.size(); ++k) at += k == axis ? 0 : place[k] * strides[k];
    return input[at];
  });
}

Result<Answer> index_select(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto index = call.tensor("index");
  const auto axis = call.axis("dim", input.rank());
  return each_element(
      [input, index, from = Lines(input.extents(), axis), to = Lines(call.output_extents(), axis)](std::int64_t i) {
        const auto chosen = checked_index(index[to.position_of(i)], from.length);
        return chosen < 0 ? k_no_such_element : input[from.start(to.line_of(i)) + chosen * from.stride];
      });
}

/// Where the line of a tensor starts that lies at `place` on all axes but one; -1 where it has no such line. A single
/// number is the same everywhere.
std::int64_t line_start(const Operand& operand, const Place& place, std::size_t axis) {
  const auto strides = strides_of(operand.extents());
  std::int64_t start = 0;
  for (std::size_t k = 0; k < operand.rank(); ++k) {
    if (k == axis) continue;
    if (place[k] >= operand.extent(k)) return -1;
    start += place[k] * strides[k];
  }
  return start;
}

std::int64_t step_along(const Operand& operand, std::size_t axis) {
  return operand.rank() == 0 ? 0 : strides_of(operand.extents())[axis];
}

/// What becomes of an element and another that meets it.
using Meets = double (*)(double, double);

Meets meets_by(std::string_view word) {
  if (word == "multiply" || word == "prod") return [](double a, double b) { return a * b; };
  if (word == "amax") return [](double a, double b) { return std::isnan(a) || a > b ? a : b; };
  if (word == "amin") return [](double a, double b) { return std::isnan(a) || a < b ? a : b; };
  if (word == "add" || word == "sum" || word == "mean") return [](double a, double b) { return a + b; };
  return [](double, double b) { return b; };  // the later one replaces the other
}

/// Line by line, in the order of the index. `word` says how elements meet, and whether what was there is one of them
/// `include_self`. A wrong index is left out.
Result<Answer> scatter(const OracleCall& call, const std::string& word, bool include_self) {
  const auto input = call.tensor("input");
  const auto index = call.tensor("index");
  const auto source = call.tensor("src");
  const auto axis = call.axis("dim", input.rank());
  const Lines lines(input.extents(), axis);
  return ByLine{lines, [=, meets = meets_by(word)](std::int64_t line, std::span<std::vector<double>> outputs) {
                  auto& into = outputs.front();
                  for (std::int64_t i = 0; i < lines.length; ++i)
                    into[static_cast<std::size_t>(i)] = input[lines.start(line) + i * lines.stride];
                  std::vector<double> counts(into.size(), include_self ? 1.0 : 0.0);
                  const auto place = place_of(lines.start(line), input.extents());
                  const auto start = line_start(index, place, axis);
                  const auto from = line_start(source, place, axis);
                  const auto steps = index.rank() == 0 ? 1 : index.extent(axis);
                  for (std::int64_t i = 0; start >= 0 && i < steps; ++i) {
                    const auto to = checked_index(index[start + i * step_along(index, axis)], lines.length);
                    if (to < 0) continue;
                    const double value = source[from + i * step_along(source, axis)];
                    auto& one = into[static_cast<std::size_t>(to)];
                    auto& count = counts[static_cast<std::size_t>(to)];
                    one = count == 0.0 ? value : meets(one, value);
                    count += 1.0;
                  }
                  for (std::size_t i = 0; word == "mean" && i < into.size(); ++i) into[i] /= std::max(counts[i], 1.0);
                }};
}

Result<Answer> plain_scatter(const OracleCall& call) {
  return scatter(call, call.given("reduce") ? call.text("reduce") : std::string(), true);
}

Result<Answer> scatter_reduce(const OracleCall& call) {
  return scatter(call, call.text("reduce"), call.truth("include_self"));
}

/// x[:, i, j] with tensors i and j, which broadcast; a negative index counts from behind.
Result<Answer> index(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto axis = static_cast<std::size_t>(call.integer("dim"));
  const auto indices = call.tensors("indices");
  const auto to = call.output_extents();
  const auto common = to.size() - (input.rank() - indices.size());
  const Extents broadcast_to(to.begin() + static_cast<std::ptrdiff_t>(axis),
                             to.begin() + static_cast<std::ptrdiff_t>(axis + common));
  std::vector<Broadcast> chosen;
  for (const auto& one : indices) chosen.emplace_back(one, broadcast_to);
  std::int64_t inner = 1;
  for (std::size_t k = axis + indices.size(); k < input.rank(); ++k) inner *= input.extent(k);
  return each_element([input, axis, chosen, inner, chosen_count = volume_of(broadcast_to)](std::int64_t i) {
    auto at = i / (inner * chosen_count);
    for (std::size_t k = 0; k < chosen.size(); ++k) {
      const auto extent = input.extent(axis + k);
      const double number = chosen[k][i / inner % chosen_count];
      const auto one = checked_index(number < 0.0 ? number + static_cast<double>(extent) : number, extent);
      if (one < 0) return k_no_such_element;
      at = at * extent + one;
    }
    return input[at * inner + i % inner];
  });
}

/// Rows of the weight. Where there is a max_norm, a row with a larger norm is scaled down to it.
Result<Answer> embedding(const OracleCall& call) {
  const auto input = call.tensor("input");
  const auto weight = call.tensor("weight");
  const bool bounded = call.given("max_norm");
  const double most = call.number_or("max_norm", 0.0);
  const double order = call.number("norm_type");
  return each_element([=](std::int64_t i) {
    const auto width = weight.extent(1);
    const auto row = checked_index(input[i / width], weight.extent(0));
    if (row < 0) return k_no_such_element;
    const double x = weight[row * width + i % width];
    if (!bounded) return x;
    double norm = 0.0;
    for (std::int64_t k = 0; k < width; ++k) norm += std::pow(std::fabs(weight[row * width + k]), order);
    norm = std::pow(norm, 1.0 / order);
    constexpr double k_eps = 1e-7;  // as PyTorch keeps the scale finite
    return norm > most ? x * most / (norm + k_eps) : x;
  });
}

Result<Answer> one_hot(const OracleCall& call) {
  return each_element([input = call.tensor("input"), classes = call.integer("num_classes")](std::int64_t i) {
    return input[i / classes] == static_cast<double>(i % classes) ? 1.0 : 0.0;
  });
}

constexpr std::array k_indexing_answers = {
    OracleRow{"gather", gather},
    OracleRow{"take_along_dim", gather},
    OracleRow{"index_select", index_select},
    OracleRow{"scatter", plain_scatter},
    OracleRow{"scatter_add", [](const OracleCall& call) { return scatter(call, "add", true); }},
    OracleRow{"scatter_reduce", scatter_reduce},
    OracleRow{"index", index},
    OracleRow{"embedding", embedding},
    OracleRow{"one_hot", one_hot},
};

}  // namespace

std::span<const OracleRow> indexing_answers() {
  return k_indexing_answers;
}

}  // namespace kw::program_oracle
