#include "operators/program/oracle/traced_reads.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <utility>

#include "operators/program/oracle/evaluation.hpp"

namespace kw::program_oracle {
namespace {

/// Some elements of a tensor that may be far too large for a bit each.
class ElementSet {
 public:
  explicit ElementSet(std::int64_t count) : pages_(static_cast<std::size_t>(count) / k_page + 1) {}

  void add(std::int64_t element) {
    const auto at = static_cast<std::size_t>(element);
    auto& page = pages_[at / k_page];
    if (page == nullptr) page = std::make_unique<Page>();
    (*page)[at % k_page / 64] |= std::uint64_t{1} << at % 64;
  }

  [[nodiscard]] Ranges ranges() const {
    Ranges all;
    for (std::size_t page = 0; page < pages_.size(); ++page) {
      if (pages_[page] == nullptr) continue;
      for (std::size_t word = 0; word < k_page / 64; ++word)
        add_ranges((*pages_[page])[word], static_cast<std::int64_t>(page * k_page + word * 64), all);
    }
    return all;
  }

 private:
  static constexpr std::size_t k_page = 4096;
  using Page = std::array<std::uint64_t, k_page / 64>;

  /// The runs of ones in a word of which bit 0 stands for element `base`.
  static void add_ranges(std::uint64_t bits, std::int64_t base, Ranges& all) {
    while (bits != 0) {
      const int zeros = std::countr_zero(bits);
      bits >>= zeros;
      const int ones = std::countr_one(bits);
      bits = ones == 64 ? 0 : bits >> ones;
      base += zeros;
      if (!all.empty() && all.back().end == base) {
        all.back().end = base + ones;
      } else {
        all.push_back({base, base + ones});
      }
      base += ones;
    }
  }

  std::vector<std::unique_ptr<Page>> pages_;
};

/// The way out of an answer's loops.
struct AskedTooOften {};

void ask(const ByElement& answer, std::size_t output, const Ranges& wanted) {
  for (const auto& range : wanted) {
    for (auto i = range.begin; i < range.end; ++i) static_cast<void>(answer.at(output, i));
  }
}

void ask(const ByLine& answer, std::size_t outputs, const Ranges& wanted) {
  const auto length = static_cast<std::size_t>(answer.lines.length);
  std::vector<std::vector<double>> buffers(outputs, std::vector<double>(length));
  ElementSet lines(answer.lines.count);
  for (const auto& range : wanted) {
    for (auto i = range.begin; i < range.end; ++i) lines.add(answer.lines.line_of(i));
  }
  for (const auto& range : lines.ranges()) {
    for (auto line = range.begin; line < range.end; ++line) answer.fill(line, buffers);
  }
}

}  // namespace

Ranges joined(Ranges ranges) {
  std::ranges::sort(ranges, {}, &ElementRange::begin);
  Ranges all;
  for (const auto& range : ranges) {
    if (!all.empty() && range.begin <= all.back().end) {
      all.back().end = std::max(all.back().end, range.end);
    } else {
      all.push_back(range);
    }
  }
  return all;
}

Ranges rows_in_places(const Ranges& ranges, std::int64_t length, std::int64_t other) {
  Ranges rows;
  for (const auto& range : ranges) {
    rows.push_back({range.begin / length * other, (range.end + length - 1) / length * other});
  }
  return joined(std::move(rows));
}

std::vector<RowPart> parts_of_rows(const Ranges& ranges, std::int64_t length) {
  std::vector<RowPart> parts;
  for (const auto& range : ranges) {
    for (auto i = range.begin; i < range.end;) {
      const std::int64_t count = std::min(range.end - i, length - i % length);
      parts.push_back({i / length, i % length, count});
      i += count;
    }
  }
  return parts;
}

std::optional<Ranges> first_operand_reads(const BySpan& answer, const Ranges& wanted, std::size_t most) {
  if (answer.first_operand == nullptr) return std::nullopt;
  Ranges reads;
  for (const auto& part : parts_of_rows(wanted, answer.length)) {
    answer.first_operand(part, reads);
    if (reads.size() > most) return std::nullopt;
  }
  return joined(std::move(reads));
}

std::optional<std::map<std::size_t, Ranges>> traced_reads(const Graph& graph, const Node& node,
                                                          const std::vector<Ranges>& wanted, std::int64_t most) {
  std::map<std::size_t, ElementSet> asked;
  const OracleCall::OperandOf zeros = [&](std::size_t value) {
    const auto& type = graph.values[value].type;
    ElementSet& set = asked.try_emplace(value, elements_of(type)).first->second;
    return Operand(type.dtype, values_of(type.shape), [&set, &most](std::int64_t element) {
      if (--most < 0) throw AskedTooOften();
      set.add(element);
      return 0.0;
    });
  };
  try {
    const auto answer = answer_of(graph, node, zeros);
    if (!answer) return std::nullopt;
    for (std::size_t output = 0; output < wanted.size(); ++output) {
      if (const auto* by_element = std::get_if<ByElement>(&*answer)) ask(*by_element, output, wanted[output]);
      if (const auto* by_line = std::get_if<ByLine>(&*answer)) ask(*by_line, node.outputs.size(), wanted[output]);
    }
  } catch (const AskedTooOften&) {
    return std::nullopt;
  }
  std::map<std::size_t, Ranges> reads;
  for (const auto& [value, set] : asked) reads.emplace(value, set.ranges());
  return reads;
}

}  // namespace kw::program_oracle
