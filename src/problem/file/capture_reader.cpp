#include "problem/file/capture_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "problem/captures/generators.hpp"
#include "problem/file/capture_sources.hpp"
#include "problem/file/number_array.hpp"
#include "problem/file/problem_reader.hpp"
#include "problem/file/reserved_names.hpp"
#include "problem/operator.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_captures = 16;
constexpr double k_max_declared_whole = 16777216.0;  // 2^24
constexpr double k_unbounded = std::numeric_limits<double>::infinity();
constexpr std::array k_dtypes = {DType::f32, DType::f16, DType::bf16, DType::i32, DType::boolean};
const std::vector<std::string> k_sources = {"values", "npy", "formula", "generator"};

/// The tables below [tensors] one by one, into `problem_`.
class CaptureReader {
 public:
  CaptureReader(const ConfigValue& table, const SourcePlace& name_place, const ProblemFolder& folder, Axes& axes,
                Problem& problem)
      : table_(table), name_place_(name_place), folder_(folder), axes_(axes), problem_(problem) {}

  Result<Capture> read(const std::string& name) {
    capture_.declared.name = name;
    KW_TRY_VOID(check_name(name));
    KW_TRY_VOID(check_kind(table_, fmt::format("tensor {}", name), ConfigKind::table));
    KW_TRY(const auto* source, find_source());
    KW_TRY_VOID(check_known_keys(*source));
    KW_TRY_VOID(read_dtype());
    KW_TRY_VOID(read_axes());
    KW_TRY_VOID(read_bounds());
    if (const auto* sorted = table_.find("sorted")) {
      KW_TRY_VOID(check_kind(*sorted, "'sorted'", ConfigKind::boolean));
      capture_.declared.sorted = sorted->boolean && !capture_.declared.axes.empty();
    }
    const CaptureTable at{table_, folder_, axes_, problem_};
    if (source == table_.find("generator")) {
      KW_TRY_VOID(read_generator(at, *generator_, *source, capture_));
    } else if (source == table_.find("formula")) {
      KW_TRY_VOID(read_formula(at, *source, capture_));
    } else {
      KW_TRY_VOID(read_fixed(at, *source, source == table_.find("npy"), capture_));
    }
    return std::move(capture_);
  }

 private:
  [[nodiscard]] Result<void> check_name(const std::string& name) const {
    auto checked = check_own_name(name, NamedThing::tensor, operator_of(problem_).format);
    if (!checked) {
      checked.error().where = name_place_;
      return checked;
    }
    const bool axis = axes_.count(name) > 0;
    if (!axis && problem_.constants.count(name) == 0) return {};
    return fail_at(errc::problem_value, name_place_,
                   fmt::format("'{}' is {} already", name, axis ? "an axis" : "a constant"), "choose another name");
  }

  Result<const ConfigValue*> find_source() const {
    const ConfigValue* source = nullptr;
    for (const auto& key : k_sources) {
      const auto* found = table_.find(key);
      if (found != nullptr && source != nullptr) {
        return fail_at(errc::problem_value, found->where,
                       fmt::format("tensor {} has two sources of values", capture_.declared.name),
                       fmt::format("keep one of {}", join(k_sources)));
      }
      if (found != nullptr) source = found;
    }
    if (source != nullptr) return source;
    return fail_at(
        errc::problem_missing_key, table_.where, fmt::format("tensor {} has no values", capture_.declared.name),
        "add one of: values = [1, 2], npy = \"file.npy\", formula = \"lambda i: ...\", generator = \"offsets\"");
  }

  Result<void> check_known_keys(const ConfigValue& source) {
    std::vector<std::string> known = {"dtype", "axes", "sorted", "low", "high"};
    known.insert(known.end(), k_sources.begin(), k_sources.end());
    if (&source == table_.find("generator")) {
      KW_TRY_VOID(check_kind(source, "'generator'", ConfigKind::text));
      generator_ = find_generator(source.text);
      if (generator_ == nullptr) {
        const auto near = closest_name(source.text, generator_names());
        return fail_at(
            errc::problem_value, source.where, fmt::format("there is no generator '{}'", source.text),
            near ? fmt::format("\"{}\"?", *near) : fmt::format("the generators are {}", join(generator_names())));
      }
      for (const auto& number : generator_->numbers) known.emplace_back(number.name);
      known.insert(known.end(), generator_->captures.begin(), generator_->captures.end());
    }
    return check_keys(table_, fmt::format("[tensors.{}]", capture_.declared.name), known);
  }

  Result<void> read_dtype() {
    KW_TRY(const auto text, required_text(table_, "dtype", "i32"));
    for (const auto dtype : k_dtypes) {
      if (to_string(dtype) == text) capture_.declared.dtype = dtype;
    }
    if (to_string(capture_.declared.dtype) == text) return {};
    return fail_at(errc::problem_value, table_.find("dtype")->where, fmt::format("dtype '{}' is not supported", text),
                   "write \"f32\", \"f16\", \"bf16\", \"i32\" or \"bool\"");
  }

  Result<void> read_axes() {
    const auto* value = table_.find("axes");
    if (value == nullptr) {
      return fail_at(errc::problem_missing_key, table_.where, "'axes' is missing",
                     "add a line such as: axes = [\"B\", \"Skv\"], or axes = [] for a single value");
    }
    if (value->kind != ConfigKind::array) {
      return fail_at(errc::problem_type, value->where,
                     fmt::format("'axes' should be an array, but is of type {}", to_string(value->kind)),
                     "write the names of the axes, as in [\"B\", \"Skv\"]");
    }
    if (value->items.size() > k_max_dimensions) {
      return fail_at(errc::problem_value, value->where,
                     fmt::format("a tensor has at most {} dimensions", k_max_dimensions));
    }
    for (const auto& item : value->items) {
      KW_TRY_VOID(check_kind(item, "the name of an axis", ConfigKind::text));
      capture_.declared.axes.push_back(item.text);
      const bool shape_decides = table_.find("values") != nullptr || table_.find("npy") != nullptr;
      if (axes_.count(item.text) == 0 && !shape_decides) return unknown_axis(item);
    }
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> unknown_axis(const ConfigValue& item) const {
    std::vector<std::string> known;
    for (const auto& [axis, extent] : axes_) known.push_back(axis);
    const auto near = closest_name(item.text, known);
    return fail_at(errc::problem_value, item.where, fmt::format("there is no axis '{}'", item.text),
                   near ? fmt::format("'{}'?", *near) : fmt::format("add it to [axes], as in: {} = 16", item.text));
  }

  /// A generator's parameter of the same name comes first: what it bounds is learnt with it.
  Result<void> read_bound(const char* key, double& bound) const {
    const auto* value = table_.find(key);
    if (value == nullptr || has_parameter(generator_, key)) return {};
    const bool number = value->kind == ConfigKind::integer || value->kind == ConfigKind::real;
    const double given = value->kind == ConfigKind::integer ? static_cast<double>(value->integer) : value->real;
    if (!number || std::isnan(given)) {
      return fail_at(number ? errc::problem_value : errc::problem_type, value->where,
                     fmt::format("'{}' should be a number", key),
                     "write a bound that holds for every value there may be");
    }
    // Rounding keeps the order, so that a stored value is within the stored bound.
    bound = static_cast<double>(stored_value(capture_.declared.dtype, given));
    return {};
  }

  Result<void> read_bounds() {
    auto& declared = capture_.declared;
    const bool boolean = declared.dtype == DType::boolean;
    const double reach = boolean ? 1.0 : declared.dtype == DType::i32 ? k_max_declared_whole : k_unbounded;
    declared.low = boolean ? 0.0 : -reach;
    declared.high = reach;
    KW_TRY_VOID(read_bound("low", declared.low));
    KW_TRY_VOID(read_bound("high", declared.high));
    if (declared.low <= declared.high) return {};
    const auto* at = table_.find("high") != nullptr ? table_.find("high") : table_.find("low");
    return fail_at(errc::problem_value, at->where,
                   fmt::format("low = {} is above high = {}", declared.low, declared.high));
  }

  const ConfigValue& table_;
  const SourcePlace& name_place_;
  const ProblemFolder& folder_;
  Axes& axes_;
  Problem& problem_;
  const CaptureGenerator* generator_ = nullptr;
  Capture capture_;
};

Result<void> check_draw(const ConfigValue& root, const Problem& problem, const Workload& workload) {
  CaptureData data;
  for (std::size_t i = 0; i < problem.captures.size(); ++i) {
    auto tensor = draw_capture(problem.captures, i, workload.axes, data, k_nominal_seed);
    if (!tensor) {
      auto refused = std::move(tensor).error();
      refused.where = root.find("tensors")->key_places[i];
      return with_context(std::move(refused), fmt::format("drawing values for workload '{}'", workload.name));
    }
    data.emplace(problem.captures[i].declared.name, *std::move(tensor));
  }
  return {};
}

}  // namespace

Result<void> read_captures(const ConfigValue& root, const ProblemFolder& folder, Axes& axes, Problem& problem) {
  const auto* tables = root.find("tensors");
  if (tables == nullptr) return {};
  KW_TRY_VOID(check_kind(*tables, "'tensors'", ConfigKind::table));
  if (tables->items.size() > k_max_captures) {
    return fail_at(errc::problem_value, tables->key_places[k_max_captures],
                   fmt::format("{} tensors are more than the {} allowed", tables->items.size(), k_max_captures));
  }
  for (std::size_t i = 0; i < tables->items.size(); ++i) {
    CaptureReader reader(tables->items[i], tables->key_places[i], folder, axes, problem);
    KW_TRY(auto capture, reader.read(tables->keys[i]));
    problem.captures.push_back(std::move(capture));
  }
  return {};
}

Result<void> check_draws(const ConfigValue& root, const Problem& problem) {
  double budget = k_quick_draws;
  for (const auto& workload : problem.workloads) {
    const double work = draw_work(problem.captures, workload.axes);
    if (work > budget) continue;
    budget -= work;
    KW_TRY_VOID(check_draw(root, problem, workload));
  }
  return {};
}

}  // namespace kw
