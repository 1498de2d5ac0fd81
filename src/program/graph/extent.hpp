#pragma once
// An integer of a module: its value for the axes as they are bound, and how it follows from them. Sums of products of
// axes are kept in a normal form, so that equal ones look equal; quotients that do not come out are parts of their own.
// What cannot be expressed (or would grow beyond reading) is a constant, which is right for the binding it was read
// with.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace kw {

class Extent {
 public:
  Extent() = default;
  Extent(std::int64_t constant);  // NOLINT(google-explicit-constructor): an integer is an extent
  [[nodiscard]] static Extent axis(const std::string& name, std::int64_t value);

  [[nodiscard]] std::int64_t value() const { return value_; }
  [[nodiscard]] bool is_constant() const;
  /// In the language of tensor/int_expr.hpp; evaluates to value() where the axes are bound as they were read.
  [[nodiscard]] std::string text() const;

  // The sum, difference, product, and Python's `//` and `%`; errc::program_limit where 64 bits do not hold the value,
  // errc::program_value for a division by zero.
  [[nodiscard]] static Result<Extent> sum(const Extent& a, const Extent& b);
  [[nodiscard]] static Result<Extent> difference(const Extent& a, const Extent& b);
  [[nodiscard]] static Result<Extent> product(const Extent& a, const Extent& b);
  [[nodiscard]] static Result<Extent> quotient(const Extent& a, const Extent& b);
  [[nodiscard]] static Result<Extent> remainder(const Extent& a, const Extent& b);

  /// Whether the values are the same.
  friend bool operator==(const Extent& a, const Extent& b) { return a.value_ == b.value_; }

 private:
  /// The factors of a product, sorted: axes, and quotients in parentheses. None for a constant.
  using Factors = std::vector<std::string>;
  using Terms = std::map<Factors, std::int64_t>;

  Extent(std::int64_t value, Terms terms);
  [[nodiscard]] static bool divide_terms(const Terms& terms, const Factors& by, std::int64_t coefficient, Terms& into);
  [[nodiscard]] static Result<Extent> combined(const Extent& a, const Extent& b, std::int64_t sign);
  [[nodiscard]] static Extent opaque(std::int64_t value, const Extent& a, const char* symbol, const Extent& b);

  std::int64_t value_ = 0;
  Terms terms_;  ///< coefficients, none of them 0
};

using Shape = std::vector<Extent>;

/// The product; errc::program_limit when it leaves 63 bits.
[[nodiscard]] Result<Extent> element_count(const Shape& shape);
[[nodiscard]] std::vector<std::int64_t> values_of(const Shape& shape);
/// "[batch_size, 64, height - 2]"
[[nodiscard]] std::string shape_text(const Shape& shape);

}  // namespace kw
