#include "record/requirement.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "language/language.hpp"

namespace kw {
namespace {

/// Who can say how large a quantity is.
enum class Source : std::uint8_t {
  plan,           ///< the bundle's header, on any device
  binary,         ///< every compiler
  work_group,     ///< every driver that was asked for a kernel's local memory
  gpu_toolchain,  ///< compilers for real GPUs
  sanitizer,      ///< the sanitize gate
};

struct Quantity {
  std::string_view name;
  Source source;
  std::string_view words;  ///< after a number: "128 registers per thread"
  double most;             ///< a bound beyond it is a slip
  /// Of a flag: what it stands for. Empty for quantities that are compared with a number.
  std::string_view flag_words;
};

constexpr double k_many = 1e15;
constexpr std::array k_quantities = {
    Quantity{"tensor_cores", Source::gpu_toolchain, "tensor core instructions", k_many, "tensor cores are used"},
    Quantity{"no_spills", Source::gpu_toolchain, "bytes of spilled registers", k_many, "no register is spilled"},
    Quantity{"sanitized", Source::sanitizer, "sanitizers", k_many, "a sanitizer has run it and found nothing"},
    Quantity{"registers", Source::gpu_toolchain, "registers per thread", 1e6, ""},
    Quantity{"occupancy", Source::gpu_toolchain, "occupancy (resident threads as a share of what fits)", 1, ""},
    Quantity{"spill_bytes", Source::gpu_toolchain, "bytes of spilled registers per thread", k_many, ""},
    Quantity{"stack_bytes", Source::gpu_toolchain, "bytes of stack per thread", k_many, ""},
    Quantity{"shared_bytes", Source::work_group, "bytes of shared (local) memory per block", k_many, ""},
    Quantity{"launches", Source::plan, "kernel launches", k_many, ""},
    Quantity{"scratch_bytes", Source::plan, "bytes of scratch buffers", k_many, ""},
    Quantity{"binary_bytes", Source::binary, "bytes of compiled code", k_many, ""},
};
constexpr std::size_t k_most_requirements = 32;

const Quantity* find_quantity(std::string_view name) {
  const auto found =
      std::find_if(k_quantities.begin(), k_quantities.end(), [&](const Quantity& q) { return q.name == name; });
  return found == k_quantities.end() ? nullptr : &*found;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const auto& quantity : k_quantities) names.emplace_back(quantity.name);
  return names;
}

/// What people type goes into a message: bounded, printable.
std::string shown(std::string_view text) {
  constexpr std::size_t k_longest = 60;
  std::string out;
  for (const char c : text.substr(0, k_longest)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return text.size() > k_longest ? out + "..." : out;
}

Result<Requirement> flag_requirement(const Quantity& quantity) {
  const bool wants_some = quantity.name == "tensor_cores" || quantity.source == Source::sanitizer;
  return Requirement{std::string(quantity.name), wants_some ? Relation::greater : Relation::equal, 0, true};
}

Result<double> parse_bound(std::string_view item, std::string_view text, const Quantity& quantity) {
  double bound = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bound);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(bound)) {
    return fail(Error{errc::requirement_value, fmt::format("'{}': '{}' is not a number", shown(item), shown(text)),
                      fmt::format("write it like {}<=64", quantity.name)});
  }
  if (bound < 0 || bound > quantity.most) {
    return fail(Error{errc::requirement_value,
                      fmt::format("'{}': the bound must lie between 0 and {}", shown(item), quantity.most),
                      quantity.most == 1 ? "occupancy is a share: 0.5 is one half" : ""});
  }
  return bound;
}

Result<Requirement> parse_one(std::string_view item) {
  const std::size_t at = item.find_first_of("<>=");
  const std::string name(trimmed(item.substr(0, at)));
  const Quantity* quantity = find_quantity(name);
  if (quantity == nullptr) {
    const auto near = closest_name(name, known_names());
    return fail(Error{errc::requirement_unknown,
                      fmt::format("'{}' cannot be required; known are {}", shown(name), join(known_names())),
                      near ? fmt::format("did you mean {}?", *near)
                           : "what cannot be checked may be asked for in words with --constraint"});
  }
  const bool is_flag = !quantity->flag_words.empty();
  if (at == std::string_view::npos) {
    if (is_flag) return flag_requirement(*quantity);
    return fail(Error{errc::requirement_syntax, fmt::format("'{}' needs a bound", name),
                      fmt::format("write {}<=N or {}>=N", name, name)});
  }
  if (is_flag) {
    return fail(
        Error{errc::requirement_syntax, fmt::format("'{}' takes no bound", name), fmt::format("write {} alone", name)});
  }
  constexpr std::array k_relations = {Relation::at_most, Relation::at_least, Relation::equal, Relation::less,
                                      Relation::greater};  // "<=" before "<"
  const std::string_view rest = item.substr(at);
  for (const Relation relation : k_relations) {
    const std::string_view sign = to_string(relation);
    if (rest.substr(0, sign.size()) != sign) continue;
    KW_TRY(const double bound, parse_bound(item, trimmed(rest.substr(sign.size())), *quantity));
    return Requirement{name, relation, bound, false};
  }
  return fail(Error{errc::requirement_syntax, fmt::format("'{}' has no comparison", shown(item)),
                    "comparisons are <=, >=, ==, < and >"});
}

bool reports(const DeviceFacts& device, Source source) {
  switch (source) {
    case Source::plan:
    case Source::binary:
    case Source::work_group:
    case Source::sanitizer:
      return true;
    case Source::gpu_toolchain:
      break;
  }
  const Language* language = find_language(device.target);
  return language != nullptr && language->gpu_reports_resources && device.kind == DeviceKind::gpu;
}

std::optional<double> number(const std::optional<std::int64_t>& value) {
  return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

}  // namespace

std::string_view to_string(Relation relation) {
  switch (relation) {
    case Relation::less:
      return "<";
    case Relation::at_most:
      return "<=";
    case Relation::equal:
      return "==";
    case Relation::at_least:
      return ">=";
    case Relation::greater:
      return ">";
  }
  return "?";
}

Result<std::vector<Requirement>> parse_requirements(std::string_view text) {
  std::vector<Requirement> requirements;
  if (trimmed(text).empty()) return requirements;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string_view item = trimmed(text.substr(start, end - start));
    if (item.empty()) {
      return fail(Error{errc::requirement_syntax, "there is nothing between two commas", "leave one of them out"});
    }
    KW_TRY(auto one, parse_one(item));
    requirements.push_back(std::move(one));
    if (requirements.size() > k_most_requirements) {
      return fail(Error{errc::requirement_syntax, fmt::format("more than {} requirements", k_most_requirements),
                        "keep those that matter"});
    }
    start = end + 1;
  }
  return requirements;
}

std::string to_string(const Requirement& requirement) {
  if (requirement.flag) return requirement.quantity;
  return fmt::format("{}{}{}", requirement.quantity, to_string(requirement.comparison), requirement.bound);
}

std::string in_words(const Requirement& requirement) {
  const Quantity* quantity = find_quantity(requirement.quantity);
  if (quantity == nullptr) return to_string(requirement);
  if (requirement.flag) return std::string(quantity->flag_words);
  constexpr std::array<std::string_view, 6> k_words = {"", "fewer than", "at most", "exactly", "at least", "more than"};
  return fmt::format("{} {} {}", k_words.at(static_cast<std::size_t>(requirement.comparison)), requirement.bound,
                     quantity->words);
}

std::optional<double> figure_of(const Requirement& requirement, const BuildReport& build, const PlanFigures& plan) {
  const std::string_view name = requirement.quantity;
  if (name == "tensor_cores") return number(build.tensor_core_instructions);
  if (name == "registers") return number(build.registers);
  if (name == "occupancy") return build.occupancy;
  if (name == "no_spills" || name == "spill_bytes") return number(build.spill_bytes);
  if (name == "stack_bytes") return number(build.stack_bytes);
  if (name == "shared_bytes") return static_cast<double>(std::max(build.shared_bytes.value_or(0), plan.shared_bytes));
  if (name == "launches") return static_cast<double>(plan.launches);
  if (name == "scratch_bytes") return static_cast<double>(plan.scratch_bytes);
  if (name == "binary_bytes") return static_cast<double>(build.binary_bytes);
  return std::nullopt;
}

bool needs_sanitizer(const Requirement& requirement) {
  const Quantity* quantity = find_quantity(requirement.quantity);
  return quantity != nullptr && quantity->source == Source::sanitizer;
}

bool holds(const Requirement& requirement, double value) {
  switch (requirement.comparison) {
    case Relation::less:
      return value < requirement.bound;
    case Relation::at_most:
      return value <= requirement.bound;
    case Relation::equal:
      return value == requirement.bound;
    case Relation::at_least:
      return value >= requirement.bound;
    case Relation::greater:
      return value > requirement.bound;
  }
  return false;
}

Result<void> require_checkable(const std::vector<Requirement>& requirements, const DeviceFacts& device) {
  std::vector<std::string> checkable;
  for (const auto& quantity : k_quantities) {
    if (reports(device, quantity.source)) checkable.emplace_back(quantity.name);
  }
  for (const auto& requirement : requirements) {
    const Quantity* quantity = find_quantity(requirement.quantity);
    if (quantity != nullptr && reports(device, quantity->source)) continue;
    return fail(Error{errc::requirement_unchecked,
                      fmt::format("'{}' cannot be checked: {} ({}) reports no {}", to_string(requirement), device.id,
                                  device.name, requirement.quantity),
                      fmt::format("on this device these can be required: {}", join(checkable))});
  }
  return {};
}

}  // namespace kw
