#pragma once
// What one output is compared with: the oracle's numbers, or where it answered some rows alone the plain kernel's own
// output as that was stored. Numbers of a large output take four times the memory of 16-bit floats, and as much longer
// to be read.

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "verify/checking/storage.hpp"

namespace kw {

/// Row-major; does not own what it looks at.
class AnswerView {
 public:
  AnswerView(const std::vector<double>& numbers) : numbers_(numbers) {}
  AnswerView(std::span<const double> numbers) : numbers_(numbers) {}
  AnswerView(DType dtype, std::span<const std::byte> stored) : dtype_(dtype), stored_(stored) {}

  [[nodiscard]] std::size_t size() const {
    return stored_.empty() ? numbers_.size() : stored_.size() / static_cast<std::size_t>(bytes_per_element(dtype_));
  }
  /// Returns what use(at) returns, where at(i) is number i: the type is looked at once.
  template <typename Use>
  auto with_numbers(const Use& use) const {
    const auto number = [numbers = numbers_](std::size_t i) { return numbers[i]; };
    if (stored_.empty()) return use(number);
    return with_storage(dtype_, [&](auto type) {
      using Bits = typename decltype(type)::Bits;
      return use([type, stored = stored_](std::size_t i) -> double { return type.number(bits_at<Bits>(stored, i)); });
    });
  }

 private:
  std::span<const double> numbers_;
  DType dtype_ = DType::f32;
  std::span<const std::byte> stored_;
};

class Answer {
 public:
  Answer(std::vector<double> numbers) : numbers_(std::move(numbers)) {}
  Answer(DType dtype, std::vector<std::byte> stored) : dtype_(dtype), stored_(std::move(stored)) {}

  operator AnswerView() const { return stored_.empty() ? AnswerView(numbers_) : AnswerView(dtype_, stored_); }
  [[nodiscard]] std::size_t size() const { return AnswerView(*this).size(); }
  /// All of them, for what is seldom asked.
  [[nodiscard]] std::vector<double> numbers() const {
    return stored_.empty() ? numbers_ : stored_values(dtype_, stored_);
  }
  friend bool operator==(const Answer&, const Answer&) = default;

 private:
  std::vector<double> numbers_;  ///< of the oracle; empty where `stored_` is not
  DType dtype_ = DType::f32;
  std::vector<std::byte> stored_;
};

/// By the order of Problem::outputs.
using Answers = std::vector<Answer>;

}  // namespace kw
