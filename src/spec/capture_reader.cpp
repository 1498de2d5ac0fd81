#include "spec/capture_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/hash.hpp"
#include "spec/capture_generators.hpp"
#include "spec/closest_name.hpp"
#include "spec/mod_analysis.hpp"
#include "spec/number_array.hpp"
#include "spec/problem_reader.hpp"
#include "spec/reserved_names.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_captures = 16;
constexpr double k_max_whole = 16777216.0;  // 2^24
constexpr std::int64_t k_max_npy_bytes = 8 * k_max_captured_elements + 4096;
constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr std::array k_dtypes = {DType::f32, DType::f16, DType::i32, DType::boolean};
const std::vector<std::string> k_sources = {"values", "npy", "formula", "generator"};

tl::unexpected<Error> error(ErrorCode code, const SourcePlace& where, std::string message, std::string hint = {}) {
  return fail(Error{code, std::move(message), std::move(hint), where});
}

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
    if (source == table_.find("generator")) {
      KW_TRY_VOID(read_generator(*source));
    } else if (source == table_.find("formula")) {
      KW_TRY_VOID(read_formula(*source));
    } else {
      KW_TRY_VOID(read_fixed(*source, source == table_.find("npy")));
    }
    return std::move(capture_);
  }

 private:
  [[nodiscard]] Result<void> check_name(const std::string& name) const {
    auto checked = check_own_name(name, NamedThing::tensor);
    if (!checked) {
      checked.error().where = name_place_;
      return checked;
    }
    const bool axis = axes_.count(name) > 0;
    if (!axis && problem_.constants.count(name) == 0) return {};
    return error(errc::problem_value, name_place_,
                 fmt::format("'{}' is {} already", name, axis ? "an axis" : "a constant"), "choose another name");
  }

  Result<const ConfigValue*> find_source() const {
    const ConfigValue* source = nullptr;
    for (const auto& key : k_sources) {
      const auto* found = table_.find(key);
      if (found != nullptr && source != nullptr) {
        return error(errc::problem_value, found->where,
                     fmt::format("tensor {} has two sources of values", capture_.declared.name),
                     fmt::format("keep one of {}", comma_list(k_sources)));
      }
      if (found != nullptr) source = found;
    }
    if (source != nullptr) return source;
    return error(
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
        return error(
            errc::problem_value, source.where, fmt::format("there is no generator '{}'", source.text),
            near ? fmt::format("\"{}\"?", *near) : fmt::format("the generators are {}", comma_list(generator_names())));
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
    return error(errc::problem_value, table_.find("dtype")->where, fmt::format("dtype '{}' is not supported", text),
                 "write \"f32\", \"f16\", \"i32\" or \"bool\"");
  }

  Result<void> read_axes() {
    const auto* value = table_.find("axes");
    if (value == nullptr) {
      return error(errc::problem_missing_key, table_.where, "'axes' is missing",
                   "add a line such as: axes = [\"B\", \"Skv\"], or axes = [] for a single value");
    }
    if (value->kind != ConfigKind::array) {
      return error(errc::problem_type, value->where,
                   fmt::format("'axes' should be an array, but is of type {}", to_string(value->kind)),
                   "write the names of the axes, as in [\"B\", \"Skv\"]");
    }
    if (value->items.size() > k_max_dimensions) {
      return error(errc::problem_value, value->where,
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
    return error(errc::problem_value, item.where, fmt::format("there is no axis '{}'", item.text),
                 near ? fmt::format("'{}'?", *near) : fmt::format("add it to [axes], as in: {} = 16", item.text));
  }

  /// A generator's parameter of the same name comes first: see learn_bound().
  Result<void> read_bound(const char* key, double& bound) const {
    const auto* value = table_.find(key);
    if (value == nullptr || has_parameter(key)) return {};
    const bool number = value->kind == ConfigKind::integer || value->kind == ConfigKind::real;
    const double given = value->kind == ConfigKind::integer ? static_cast<double>(value->integer) : value->real;
    if (!number || std::isnan(given)) {
      return error(number ? errc::problem_value : errc::problem_type, value->where,
                   fmt::format("'{}' should be a number", key),
                   "write a bound that holds for every value there may be");
    }
    // Rounding keeps the order, so that a stored value is within the stored bound.
    bound = static_cast<double>(stored_value(capture_.declared.dtype, given));
    return {};
  }

  [[nodiscard]] bool has_parameter(std::string_view name) const {
    return generator_ != nullptr && std::any_of(generator_->numbers.begin(), generator_->numbers.end(),
                                                [&](const auto& number) { return number.name == name; });
  }

  /// A generator's 'low' or 'high' bounds the values when it is the same for all axes.
  void learn_bound(std::string_view parameter, const GeneratedValues& generated, double& bound) const {
    if (!has_parameter(parameter)) return;
    const auto given = generated.numbers.find(parameter);
    double value = 0.0;
    if (given != generated.numbers.end()) {
      const auto& root = given->second.nodes[static_cast<std::size_t>(given->second.root)];
      if (root.op != ExprOp::constant) return;
      value = evaluate(given->second, {}, {});
    } else {
      const auto& numbers = generator_->numbers;
      value = *std::find_if(numbers.begin(), numbers.end(), [&](const auto& number) {
                 return number.name == parameter;
               })->otherwise;
    }
    if (!std::isnan(value)) bound = static_cast<double>(stored_value(capture_.declared.dtype, value));
  }

  Result<void> read_bounds() {
    auto& declared = capture_.declared;
    const bool boolean = declared.dtype == DType::boolean;
    const double reach = boolean ? 1.0 : declared.dtype == DType::i32 ? k_max_whole : k_infinity;
    declared.low = boolean ? 0.0 : -reach;
    declared.high = reach;
    KW_TRY_VOID(read_bound("low", declared.low));
    KW_TRY_VOID(read_bound("high", declared.high));
    if (declared.low <= declared.high) return {};
    const auto* at = table_.find("high") != nullptr ? table_.find("high") : table_.find("low");
    return error(errc::problem_value, at->where,
                 fmt::format("low = {} is above high = {}", declared.low, declared.high));
  }

  Result<void> read_formula(const ConfigValue& source) {
    KW_TRY_VOID(check_kind(source, "'formula'", ConfigKind::text));
    auto formula = parse_formula(source.text, capture_.declared.axes.size(), mod_scope(problem_));
    if (!formula) {
      return with_context(placed_in_file(std::move(formula).error(), source),
                          fmt::format("reading the formula of tensor {}", capture_.declared.name));
    }
    const auto type = formula->nodes[static_cast<std::size_t>(formula->root)].type;
    const auto wanted = scalar_type(capture_.declared.dtype);
    if (type != wanted && !(type == ScalarType::integer && wanted == ScalarType::real)) {
      constexpr std::array k_names = {"a boolean", "an integer", "a float"};
      return error(errc::problem_type, source.where,
                   fmt::format("the formula gives {}, but tensor {} holds {}", k_names[static_cast<std::size_t>(type)],
                               capture_.declared.name, to_string(capture_.declared.dtype)),
                   "change the dtype, or convert with .int(), .float() or a comparison");
    }
    capture_.source_text = "formula\n" + canonical_mod(*formula);
    capture_.source = FormulaValues{*std::move(formula)};
    return {};
  }

  Result<NumberArray> read_npy(const ConfigValue& source) const {
    KW_TRY_VOID(check_kind(source, "'npy'", ConfigKind::text));
    const std::filesystem::path path = source.text;
    const bool inside = !source.text.empty() && source.text.find('\0') == std::string::npos && path.is_relative() &&
                        std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
    if (!inside) {
      return error(errc::problem_value, source.where, "the path of an .npy file stays below the problem file's folder",
                   "put the file beside the problem file and write its name");
    }
    if (folder_.files == nullptr) {
      return error(errc::problem_value, source.where,
                   fmt::format("'{}' cannot be looked for, because this problem is not read from a file", source.text),
                   "write the numbers under 'values'");
    }
    const auto placed = [&](Error refused) {
      refused.where = source.where;
      return with_context(std::move(refused), fmt::format("reading {}", (folder_.path / path).string()));
    };
    const auto bytes = folder_.files->read(folder_.path / path, k_max_npy_bytes);
    if (!bytes) return placed(bytes.error());
    auto array = parse_npy(*bytes);
    if (!array) return placed(std::move(array).error());
    return *std::move(array);
  }

  Result<void> read_fixed(const ConfigValue& source, bool npy) {
    KW_TRY(const auto array, npy ? read_npy(source) : read_number_array(source));
    auto& declared = capture_.declared;
    if (array.extents.size() != declared.axes.size()) {
      return error(errc::capture_values, source.where,
                   fmt::format("tensor {} has {} axes, but its values have {} dimensions", declared.name,
                               declared.axes.size(), array.extents.size()),
                   "name one axis per level of brackets");
    }
    KW_TRY_VOID(learn_axes(array.extents, source.where));
    auto stored = stored_values(declared, array.extents, array.values);
    if (!stored) {
      stored.error().where = source.where;
      return tl::unexpected(std::move(stored).error());
    }
    learn_facts(*stored);
    const std::string_view bytes(reinterpret_cast<const char*>(stored->values.data()),
                                 stored->values.size() * sizeof(float));
    capture_.source_text = fmt::format("values {}\n", hash_bytes(bytes).hex());
    capture_.source = FixedValues{std::move(stored->extents), std::move(stored->values)};
    return {};
  }

  /// Axes that [axes] lacks get their extent here.
  Result<void> learn_axes(const std::vector<std::int64_t>& extents, const SourcePlace& where) {
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const auto& axis = capture_.declared.axes[i];
      const auto known = axes_.find(axis);
      if (known != axes_.end() && known->second == extents[i]) continue;
      if (known != axes_.end()) {
        return error(errc::capture_values, where,
                     fmt::format("tensor {} has {} values along {}, but {} = {}", capture_.declared.name, extents[i],
                                 axis, axis, known->second),
                     "bring values and [axes] into line");
      }
      auto named = check_own_name(axis, NamedThing::axis);
      if (named && problem_.constants.count(axis) > 0) {
        named =
            fail(Error{errc::problem_value, fmt::format("'{}' is a constant already", axis), "choose another name"});
      }
      if (!named) {
        named.error().where = table_.find("axes")->items[i].where;
        return named;
      }
      axes_[axis] = extents[i];
      problem_.own_axes.push_back(axis);
    }
    return {};
  }

  /// What holds of fixed values is known without being said.
  void learn_facts(const CapturedTensor& stored) {
    auto& declared = capture_.declared;
    const auto [low, high] = std::minmax_element(stored.values.begin(), stored.values.end());
    declared.low = static_cast<double>(*low);
    declared.high = static_cast<double>(*high);
    if (stored.extents.empty()) return;
    declared.sorted = true;
    for (auto row = stored.values.begin(); row != stored.values.end(); row += stored.extents.back()) {
      declared.sorted = declared.sorted && std::is_sorted(row, row + stored.extents.back());
    }
  }

  Result<void> read_generator(const ConfigValue& source) {
    auto& declared = capture_.declared;
    const auto& fills = generator_->dtypes;
    if (std::find(fills.begin(), fills.end(), declared.dtype) == fills.end()) {
      std::vector<std::string> names;
      for (const auto dtype : fills) names.emplace_back(to_string(dtype));
      return error(errc::problem_value, table_.find("dtype")->where,
                   fmt::format("generator '{}' makes no {}", source.text, to_string(declared.dtype)),
                   fmt::format("choose the dtype among {}", comma_list(names)));
    }
    if (declared.axes.size() < generator_->least_dimensions) {
      return error(
          errc::problem_value, source.where,
          fmt::format("generator '{}' fills tensors of at least {} axes", source.text, generator_->least_dimensions));
    }
    GeneratedValues generated{source.text, {}, {}};
    for (const auto& number : generator_->numbers) KW_TRY_VOID(read_parameter(number, generated));
    for (const auto name : generator_->captures) KW_TRY_VOID(read_reference(name, generated));
    declared.sorted = declared.sorted || generator_->sorted;
    learn_bound("low", generated, declared.low);
    learn_bound("high", generated, declared.high);
    if (generator_->counts) declared.low = std::max(declared.low, 0.0);
    capture_.source_text = fmt::format("generator {}\n", generated.generator);
    for (const auto& [name, number] : generated.numbers) {
      capture_.source_text += fmt::format(" {}\n{}", name, canonical_mod(number));
    }
    for (const auto& [name, other] : generated.names) capture_.source_text += fmt::format(" {} {}\n", name, other);
    capture_.source = std::move(generated);
    return {};
  }

  Result<void> read_parameter(const GeneratorNumber& number, GeneratedValues& generated) const {
    const auto* value = table_.find(number.name);
    if (value == nullptr) {
      if (number.otherwise) return {};
      return error(errc::problem_missing_key, table_.where, fmt::format("'{}' is missing", number.name),
                   fmt::format("add a number or an expression of axes, such as: {} = \"Skv\"", number.name));
    }
    std::string text;
    if (value->kind == ConfigKind::integer) {
      text = fmt::format("{}", value->integer);
    } else if (value->kind == ConfigKind::real && std::isfinite(value->real)) {
      text = fmt::format("{}", value->real);
    } else if (value->kind == ConfigKind::text) {
      text = value->text;
    } else {
      return error(errc::problem_type, value->where, fmt::format("'{}' should be a number", number.name),
                   "write a number, or an expression of axes and constants between quotes");
    }
    auto scope = mod_scope(problem_);
    scope.captures.clear();
    constexpr std::string_view k_lambda = "lambda: ";
    auto parsed = parse_formula(fmt::format("{}{}", k_lambda, text), 0, scope);
    if (!parsed) {
      auto refused = std::move(parsed).error();
      refused.where.column -= refused.where.line == 1 ? static_cast<int>(k_lambda.size()) : 0;
      return with_context(placed_in_file(std::move(refused), *value), fmt::format("reading '{}'", number.name));
    }
    generated.numbers.emplace(number.name, *std::move(parsed));
    return {};
  }

  Result<void> read_reference(std::string_view name, GeneratedValues& generated) const {
    KW_TRY(const auto other, required_text(table_, name, "offsets"));
    std::vector<std::string> known;
    for (const auto& capture : problem_.captures) known.push_back(capture.declared.name);
    if (std::find(known.begin(), known.end(), other) == known.end()) {
      const auto near = closest_name(other, known);
      return error(errc::problem_value, table_.find(name)->where,
                   fmt::format("there is no tensor '{}' above this one", other),
                   near ? fmt::format("\"{}\"?", *near) : "move its table above this one");
    }
    generated.names.emplace(name, other);
    return {};
  }

  const ConfigValue& table_;
  const SourcePlace& name_place_;
  const ProblemFolder& folder_;
  Axes& axes_;
  Problem& problem_;
  const CaptureGenerator* generator_ = nullptr;
  Capture capture_;
};

}  // namespace

Result<void> read_captures(const ConfigValue& root, const ProblemFolder& folder, Axes& axes, Problem& problem) {
  const auto* tables = root.find("tensors");
  if (tables == nullptr) return {};
  KW_TRY_VOID(check_kind(*tables, "'tensors'", ConfigKind::table));
  if (tables->items.size() > k_max_captures) {
    return error(errc::problem_value, tables->key_places[k_max_captures],
                 fmt::format("{} tensors are more than the {} allowed", tables->items.size(), k_max_captures));
  }
  for (std::size_t i = 0; i < tables->items.size(); ++i) {
    CaptureReader reader(tables->items[i], tables->key_places[i], folder, axes, problem);
    KW_TRY(auto capture, reader.read(tables->keys[i]));
    problem.captures.push_back(std::move(capture));
  }
  return {};
}

Result<void> check_draw(const ConfigValue& root, const Problem& problem, const Workload& workload) {
  if (draw_work(problem, workload.axes) > k_quick_draw) return {};
  CaptureData data;
  for (std::size_t i = 0; i < problem.captures.size(); ++i) {
    auto tensor = draw_capture(problem, i, workload.axes, data, k_nominal_seed);
    if (!tensor) {
      auto refused = std::move(tensor).error();
      refused.where = root.find("tensors")->key_places[i];
      return with_context(std::move(refused), fmt::format("drawing values for workload '{}'", workload.name));
    }
    data.emplace(problem.captures[i].declared.name, *std::move(tensor));
  }
  return {};
}

}  // namespace kw
