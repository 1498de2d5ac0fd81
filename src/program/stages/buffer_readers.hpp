#pragma once
// Who reads what: networks have thousands of stages and buffers, and are asked about each of them.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "program/stages/rewrite.hpp"

namespace kw {

/// Which stages read each buffer of a program, as it was when this was made.
class BufferReaders {
 public:
  explicit BufferReaders(const StageProgram& program) : readers_(program.buffers.size()) {
    for (std::size_t i = 0; i < program.stages.size(); ++i) {
      for (const auto buffer : buffers_read(program.stages[i])) readers_[buffer].push_back(i);
    }
  }

  /// In ascending order.
  [[nodiscard]] const std::vector<std::size_t>& of(std::size_t buffer) const { return readers_[buffer]; }
  /// Absent where there is none, or several.
  [[nodiscard]] std::optional<std::size_t> only(std::size_t buffer) const {
    const auto& readers = readers_[buffer];
    return readers.size() == 1 ? std::optional(readers.front()) : std::nullopt;
  }
  /// Whether a stage outside of the list reads the buffer.
  [[nodiscard]] bool has_others(std::size_t buffer, const std::vector<std::size_t>& stages) const {
    return std::ranges::any_of(readers_[buffer],
                               [&](std::size_t reader) { return std::ranges::find(stages, reader) == stages.end(); });
  }

 private:
  std::vector<std::vector<std::size_t>> readers_;
};

}  // namespace kw
