#include "program/graph/extent.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "program/errors.hpp"

namespace kw {
namespace {

/// Beyond these an extent is easier to read as a number.
constexpr std::size_t k_most_terms = 16;
constexpr std::size_t k_most_factors = 6;
constexpr std::size_t k_longest_factor = 160;

tl::unexpected<Error> too_large() {
  return fail(Error{errc::program_limit, "an integer does not fit 64 bits", "use smaller sizes"});
}

std::string term_text(const std::vector<std::string>& factors, std::uint64_t coefficient) {
  if (factors.empty()) return fmt::format("{}", coefficient);
  return (coefficient == 1 ? "" : fmt::format("{}*", coefficient)) + join(factors, "*");
}

}  // namespace

Extent::Extent(std::int64_t constant) : value_(constant) {
  if (constant != 0) terms_[{}] = constant;
}

Extent::Extent(std::int64_t value, Terms terms) : value_(value), terms_(std::move(terms)) {
  const bool unreadable =
      terms_.size() > k_most_terms ||
      std::any_of(terms_.begin(), terms_.end(), [](const auto& term) { return term.first.size() > k_most_factors; });
  if (unreadable) *this = Extent(value);
}

Extent Extent::axis(const std::string& name, std::int64_t value) {
  return {value, Terms{{Factors{name}, 1}}};
}

bool Extent::is_constant() const {
  return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
}

std::string Extent::text() const {
  if (terms_.empty()) return "0";
  std::string added;
  std::string subtracted;
  std::string constant;
  for (const auto& [factors, coefficient] : terms_) {
    const bool negative = coefficient < 0;
    const auto bits = static_cast<std::uint64_t>(coefficient);
    const auto term = term_text(factors, negative ? std::uint64_t{0} - bits : bits);
    auto& into = factors.empty() ? constant : negative ? subtracted : added;
    into += (negative ? " - " : " + ") + term;
  }
  const auto text = added + subtracted + constant;
  // A difference from 0, because expressions over axes have no sign.
  if (text.starts_with(" - ")) return "0" + text;
  const bool whole = terms_.size() == 1 && terms_.begin()->first.size() == 1 && terms_.begin()->second == 1;
  if (whole && text.ends_with(')')) return text.substr(4, text.size() - 5);
  return text.substr(3);
}

Result<Extent> Extent::combined(const Extent& a, const Extent& b, std::int64_t sign) {
  const auto value = sign > 0 ? checked_add(a.value_, b.value_) : checked_sub(a.value_, b.value_);
  if (!value) return too_large();
  Terms terms = a.terms_;
  for (const auto& [factors, coefficient] : b.terms_) {
    auto& into = terms[factors];
    const auto added = sign > 0 ? checked_add(into, coefficient) : checked_sub(into, coefficient);
    if (!added) return Extent(*value);
    into = *added;
    if (into == 0) terms.erase(factors);
  }
  return Extent(*value, std::move(terms));
}

Result<Extent> Extent::sum(const Extent& a, const Extent& b) {
  return combined(a, b, 1);
}

Result<Extent> Extent::difference(const Extent& a, const Extent& b) {
  return combined(a, b, -1);
}

Result<Extent> Extent::product(const Extent& a, const Extent& b) {
  const auto value = checked_mul(a.value_, b.value_);
  if (!value) return too_large();
  Terms terms;
  for (const auto& [left, first] : a.terms_) {
    for (const auto& [right, second] : b.terms_) {
      Factors factors = left;
      factors.insert(factors.end(), right.begin(), right.end());
      std::sort(factors.begin(), factors.end());
      const auto coefficient = checked_mul(first, second);
      auto& into = terms[factors];
      const auto added = coefficient ? checked_add(into, *coefficient) : std::nullopt;
      if (!added) return Extent(*value);
      into = *added;
      if (into == 0) terms.erase(factors);
    }
  }
  return Extent(*value, std::move(terms));
}

/// Every term divided by a product, where that comes out for all of them.
bool Extent::divide_terms(const Terms& terms, const Factors& by, std::int64_t coefficient, Terms& into) {
  for (const auto& [factors, own] : terms) {
    Factors rest;
    std::set_difference(factors.begin(), factors.end(), by.begin(), by.end(), std::back_inserter(rest));
    const bool held = rest.size() + by.size() == factors.size();
    if (!held || own % coefficient != 0) return false;
    into[rest] = own / coefficient;
  }
  return true;
}

/// A quotient or remainder as a factor of its own, read as one word.
Extent Extent::opaque(std::int64_t value, const Extent& a, const char* symbol, const Extent& b) {
  const auto wrapped = [](const Extent& part) {
    const bool simple = part.terms_.size() == 1 && part.terms_.begin()->first.size() <= 1 &&
                        (part.terms_.begin()->first.empty() || part.terms_.begin()->second == 1);
    const auto text = part.text();
    const bool bare = simple && text.find_first_of(" /%*") == std::string::npos;
    return bare ? text : "(" + text + ")";
  };
  const auto text = fmt::format("({}{}{})", wrapped(a), symbol, wrapped(b));
  if (text.size() > k_longest_factor || a.terms_.empty() || b.value_ < 0) return Extent(value);
  return {value, Terms{{Factors{text}, 1}}};
}

Result<Extent> Extent::quotient(const Extent& a, const Extent& b) {
  if (b.value_ == 0) return fail(Error{errc::program_value, "an integer is divided by zero"});
  if (b.value_ == -1 && a.value_ == std::numeric_limits<std::int64_t>::min()) return too_large();
  const auto value = floor_div(a.value_, b.value_);
  if (a.is_constant() && b.is_constant()) return Extent(value);
  Terms terms;
  const bool single = b.terms_.size() == 1 && b.terms_.begin()->second > 0;
  if (single && divide_terms(a.terms_, b.terms_.begin()->first, b.terms_.begin()->second, terms)) {
    return Extent(value, std::move(terms));
  }
  if (a.terms_ == b.terms_) return Extent(1);
  return opaque(value, a, "/", b);
}

Result<Extent> Extent::remainder(const Extent& a, const Extent& b) {
  if (b.value_ == 0) return fail(Error{errc::program_value, "an integer is divided by zero"});
  const auto value = b.value_ == -1 ? 0 : floor_mod(a.value_, b.value_);
  if (a.is_constant() && b.is_constant()) return Extent(value);
  return opaque(value, a, "%", b);
}

Result<Extent> element_count(const Shape& shape) {
  Extent count = 1;
  for (const auto& extent : shape) {
    KW_TRY(count, Extent::product(count, extent));
  }
  return count;
}

std::vector<std::int64_t> values_of(const Shape& shape) {
  std::vector<std::int64_t> values;
  values.reserve(shape.size());
  for (const auto& extent : shape) values.push_back(extent.value());
  return values;
}

std::string shape_text(const Shape& shape) {
  return "[" + join(shape, ", ", [](const Extent& extent) { return extent.text(); }) + "]";
}

}  // namespace kw
