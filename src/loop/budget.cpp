#include "loop/budget.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <vector>

namespace kw {
namespace {

constexpr std::string_view k_examples =
    "write for example 60s, 15m, 2h, 200c (candidates), 30ds (device seconds) or 10m,500c";

struct Part {
  double amount = 0;
  std::string_view unit;
};

Result<Part> split(std::string_view text) {
  Part part;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part.amount);
  part.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc{} || !std::isfinite(part.amount) || part.amount <= 0) {
    return fail(Error{errc::budget_syntax, fmt::format("\"{}\" is not a positive amount with a unit", text),
                      std::string(k_examples)});
  }
  return part;
}

template <typename T>
Result<void> assign(std::optional<T>& slot, double amount, std::string_view text) {
  if (slot)
    return fail(Error{errc::budget_syntax, fmt::format("the budget says {} twice", text), std::string(k_examples)});
  if (amount > 1e15)
    return fail(Error{errc::budget_syntax, fmt::format("{} is too large", text), std::string(k_examples)});
  slot = static_cast<T>(amount);
  return {};
}

Result<void> apply(BudgetLimits& limits, std::string_view text) {
  KW_TRY(const Part part, split(text));
  if (part.unit == "s") return assign(limits.wall_seconds, part.amount, text);
  if (part.unit == "m") return assign(limits.wall_seconds, 60 * part.amount, text);
  if (part.unit == "h") return assign(limits.wall_seconds, 3600 * part.amount, text);
  if (part.unit == "ds") return assign(limits.device_seconds, part.amount, text);
  if (part.unit == "usd") return assign(limits.dollars, part.amount, text);
  const bool whole = std::floor(part.amount) == part.amount;
  if (part.unit == "c" && whole) return assign(limits.candidates, part.amount, text);
  if (part.unit == "t" && whole) return assign(limits.tokens, part.amount, text);
  return fail(
      Error{errc::budget_syntax, fmt::format("\"{}\" has no unit that a budget knows", text), std::string(k_examples)});
}

template <typename T>
bool over(const std::optional<T>& limit, T used) {
  return limit && used >= *limit;
}

}  // namespace

Result<BudgetLimits> parse_budget(std::string_view text) {
  BudgetLimits limits;
  while (true) {
    const std::size_t comma = text.find(',');
    KW_TRY_VOID(apply(limits, text.substr(0, comma)));
    if (comma == std::string_view::npos) return limits;
    text.remove_prefix(comma + 1);
  }
}

std::string to_string(const BudgetLimits& limits) {
  std::string text;
  const auto add = [&](const auto& value, const char* unit) {
    if (value) text += fmt::format("{}{}{}", text.empty() ? "" : ",", *value, unit);
  };
  add(limits.wall_seconds, "s");
  add(limits.candidates, "c");
  add(limits.device_seconds, "ds");
  add(limits.tokens, "t");
  add(limits.dollars, "usd");
  return text.empty() ? "no limit" : text;
}

Budget::Budget(const BudgetLimits& limits, const BudgetUse& already, const Clock& clock)
    : limits_(limits), counted_(already), clock_(clock), start_(clock.now()) {}

void Budget::add_tokens(std::int64_t tokens, double dollars) {
  counted_.tokens += tokens;
  counted_.dollars += dollars;
}

BudgetUse Budget::used() const {
  BudgetUse use = counted_;
  use.wall_seconds += to_seconds(clock_.now() - start_);
  return use;
}

Instant Budget::deadline() const {
  constexpr double k_for_ever = 1e9;  // 30 years; more does not fit nanoseconds
  if (!limits_.wall_seconds || *limits_.wall_seconds > k_for_ever) return Instant::max();
  return start_ +
         std::chrono::duration_cast<Instant::duration>(from_seconds(*limits_.wall_seconds - counted_.wall_seconds));
}

bool Budget::exhausted(Duration reserve) const {
  const BudgetUse use = used();
  return over(limits_.wall_seconds, use.wall_seconds + to_seconds(reserve)) ||
         over(limits_.candidates, use.candidates) || over(limits_.device_seconds, use.device_seconds) ||
         over(limits_.tokens, use.tokens) || over(limits_.dollars, use.dollars);
}

}  // namespace kw
