// What an answer asks for, found by asking it with zeros.

#include <atomic>

#include "operators/program/oracle/evaluation.hpp"
#include "operators/program/oracle/needed_elements.hpp"

namespace kw::program_oracle {
namespace {

/// The way out of an answer's loops.
struct AskedTooOften {};

/// Reads of all threads.
class ReadCount {
 public:
  explicit ReadCount(std::int64_t most) : left_(most) {}

  void count() {
    // Threads would wait for each other's increments.
    constexpr std::int64_t k_together = 1024;
    thread_local std::int64_t own = 0;
    if (++own < k_together) return;
    own = 0;
    if (left_.fetch_sub(k_together, std::memory_order_relaxed) < k_together) throw AskedTooOften();
  }
  [[nodiscard]] bool is_exceeded() const { return left_.load(std::memory_order_relaxed) < 0; }

 private:
  std::atomic<std::int64_t> left_;
};

/// Which are asked in one task.
constexpr std::int64_t k_elements_of_task = 4096;

void ask(const ByElement& answer, std::size_t output, const Ranges& wanted, const ParallelFor& parallel) {
  const Ranges parts = cut(wanted, k_elements_of_task);
  parallel(std::ssize(parts), [&](std::int64_t part) {
    const auto [begin, end] = parts[static_cast<std::size_t>(part)];
    try {
      for (auto i = begin; i < end; ++i) static_cast<void>(answer.at(output, i));
    } catch (const AskedTooOften&) {
      // The count says so.
    }
  });
}

void ask(const ByLine& answer, std::size_t outputs, const Ranges& wanted) {
  std::vector<std::vector<double>> buffers(outputs, std::vector<double>(static_cast<std::size_t>(answer.lines.length)));
  try {
    for (const auto& range : lines_of(answer.lines, wanted)) {
      for (auto line = range.begin; line < range.end; ++line) answer.fill(line, buffers);
    }
  } catch (const AskedTooOften&) {
    // The count says so.
  }
}

}  // namespace

std::optional<std::map<std::size_t, Ranges>> traced_reads(const Graph& graph, const Node& node,
                                                          const std::vector<Ranges>& wanted,
                                                          const ParallelFor& parallel, std::int64_t most) {
  std::map<std::size_t, ElementSet> asked;
  ReadCount reads(most);
  const OracleCall::OperandOf zeros = [&](std::size_t value) {
    const auto& type = graph.values[value].type;
    ElementSet& set = asked.try_emplace(value, elements_of(type)).first->second;
    return Operand(type.dtype, values_of(type.shape), [&set, &reads](std::int64_t element) {
      reads.count();
      set.add(element);
      return 0.0;
    });
  };
  const auto answer = answer_of(graph, node, zeros);
  if (!answer) return std::nullopt;
  for (std::size_t output = 0; output < wanted.size(); ++output) {
    if (const auto* by_element = std::get_if<ByElement>(&*answer)) ask(*by_element, output, wanted[output], parallel);
    if (const auto* by_line = std::get_if<ByLine>(&*answer)) ask(*by_line, node.outputs.size(), wanted[output]);
  }
  if (reads.is_exceeded()) return std::nullopt;
  std::map<std::size_t, Ranges> found;
  for (const auto& [value, set] : asked) found.emplace(value, set.ranges());
  return found;
}

}  // namespace kw::program_oracle
