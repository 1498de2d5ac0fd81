#pragma once
// Numbers that were already computed, by their index in a space that may be far too large to store. Threads share a
// memo without locks: two that miss the same number both compute it, and keep the same.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace kw::program_oracle {

class ElementMemo {
 public:
  explicit ElementMemo(std::int64_t count);
  ElementMemo(const ElementMemo&) = delete;
  ElementMemo& operator=(const ElementMemo&) = delete;
  ~ElementMemo();

  [[nodiscard]] std::optional<double> find(std::int64_t index) const;
  void keep(std::int64_t index, double value);

 private:
  struct Page;
  std::vector<std::atomic<Page*>> pages_;  ///< owned; null until something in it is kept
};

/// Two numbers of each group of elements (a row's maximum and sum, a channel's mean and variance), computed when they
/// are first asked for. Whoever asks meanwhile waits: a group may be a whole tensor. It may not ask for a group of the
/// same statistics to be computed.
class GroupStatistics {
 public:
  struct Pair {
    double first = 0.0;
    double second = 0.0;
  };
  using Compute = std::function<Pair(std::int64_t group)>;

  GroupStatistics(std::int64_t groups, Compute compute)
      : groups_(groups), memo_(2 * groups), compute_(std::move(compute)) {}
  [[nodiscard]] std::int64_t groups() const { return groups_; }
  [[nodiscard]] Pair of(std::int64_t group);

 private:
  [[nodiscard]] std::optional<Pair> known(std::int64_t group) const;

  std::int64_t groups_;
  ElementMemo memo_;
  Compute compute_;
  std::array<std::mutex, 64> computing_;  ///< by group, several to each
};

}  // namespace kw::program_oracle
