#include "problem/file/capture_sources.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/closest_name.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "mod/analysis/analysis.hpp"
#include "mod/expression/canonical.hpp"
#include "problem/file/number_array.hpp"
#include "problem/file/problem_reader.hpp"
#include "problem/file/reserved_names.hpp"
#include "problem/operator.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_npy_bytes = 8 * k_max_captured_elements + 4096;

Result<NumberArray> read_npy(const ProblemFolder& folder, const ConfigValue& source, Problem& problem) {
  KW_TRY_VOID(check_kind(source, "'npy'", ConfigKind::text));
  const std::filesystem::path path = source.text;
  const bool inside = !source.text.empty() && source.text.find('\0') == std::string::npos && path.is_relative() &&
                      std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
  if (!inside) {
    return fail_at(errc::problem_value, source.where, "the path of an .npy file stays below the problem file's folder",
                   "put the file beside the problem file and write its name");
  }
  if (folder.files == nullptr) {
    return fail_at(errc::problem_value, source.where,
                   fmt::format("'{}' cannot be looked for, because this problem is not read from a file", source.text),
                   "write the numbers under 'values'");
  }
  const auto placed = [&](Error refused) {
    refused.where = source.where;
    return with_context(std::move(refused), fmt::format("reading {}", (folder.path / path).string()));
  };
  const auto bytes = folder.files->read(folder.path / path, k_max_npy_bytes);
  if (!bytes) return placed(bytes.error());
  auto array = parse_npy(*bytes);
  if (!array) return placed(std::move(array).error());
  if (problem.source) problem.source->add_file(source.text, *bytes);
  return *std::move(array);
}

/// Axes that [axes] lacks get their extent here.
Result<void> learn_axes(const CaptureTable& at, const ModCapture& declared, const std::vector<std::int64_t>& extents,
                        const SourcePlace& where) {
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const auto& axis = declared.axes[i];
    const auto known = at.axes.find(axis);
    if (known != at.axes.end() && known->second == extents[i]) continue;
    if (known != at.axes.end()) {
      return fail_at(errc::capture_values, where,
                     fmt::format("tensor {} has {} values along {}, but {} = {}", declared.name, extents[i], axis, axis,
                                 known->second),
                     "bring values and [axes] into line");
    }
    auto named = check_own_name(axis, NamedThing::axis, operator_of(at.problem).format);
    if (named && at.problem.constants.count(axis) > 0) {
      named = fail(Error{errc::problem_value, fmt::format("'{}' is a constant already", axis), "choose another name"});
    }
    if (!named) {
      named.error().where = at.table.find("axes")->items[i].where;
      return named;
    }
    at.axes[axis] = extents[i];
    at.problem.own_axes.push_back(axis);
  }
  return {};
}

/// What holds of fixed values is known without being said.
void learn_facts(const CapturedTensor& stored, ModCapture& declared) {
  const auto [low, high] = std::minmax_element(stored.values.begin(), stored.values.end());
  declared.low = static_cast<double>(*low);
  declared.high = static_cast<double>(*high);
  if (stored.extents.empty()) return;
  declared.sorted = true;
  for (auto row = stored.values.begin(); row != stored.values.end(); row += stored.extents.back()) {
    declared.sorted = declared.sorted && std::is_sorted(row, row + stored.extents.back());
  }
}

Result<void> read_parameter(const CaptureTable& at, const GeneratorNumber& number, GeneratedValues& generated) {
  const auto* value = at.table.find(number.name);
  if (value == nullptr) {
    if (number.otherwise) return {};
    return fail_at(errc::problem_missing_key, at.table.where, fmt::format("'{}' is missing", number.name),
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
    return fail_at(errc::problem_type, value->where, fmt::format("'{}' should be a number", number.name),
                   "write a number, or an expression of axes and constants between quotes");
  }
  auto scope = mod_scope(at.problem);
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

Result<void> read_reference(const CaptureTable& at, std::string_view name, GeneratedValues& generated) {
  KW_TRY(const auto other, required_text(at.table, name, "offsets"));
  std::vector<std::string> known;
  for (const auto& capture : at.problem.captures) known.push_back(capture.declared.name);
  if (std::find(known.begin(), known.end(), other) == known.end()) {
    const auto near = closest_name(other, known);
    return fail_at(errc::problem_value, at.table.find(name)->where,
                   fmt::format("there is no tensor '{}' above this one", other),
                   near ? fmt::format("\"{}\"?", *near) : "move its table above this one");
  }
  generated.names.emplace(name, other);
  return {};
}

/// A generator's 'low' or 'high' bounds the values when it is the same for all axes.
void learn_bound(std::string_view parameter, const CaptureGenerator& generator, const GeneratedValues& generated,
                 DType dtype, double& bound) {
  if (!has_parameter(&generator, parameter)) return;
  const auto given = generated.numbers.find(parameter);
  double value = 0.0;
  if (given != generated.numbers.end()) {
    const auto& root = given->second.nodes[static_cast<std::size_t>(given->second.root)];
    if (root.op != ExprOp::constant) return;
    value = evaluate(given->second, {}, {});
  } else {
    const auto& numbers = generator.numbers;
    value = *std::find_if(numbers.begin(), numbers.end(), [&](const auto& number) {
               return number.name == parameter;
             })->otherwise;
  }
  if (!std::isnan(value)) bound = static_cast<double>(stored_value(dtype, value));
}

}  // namespace

bool has_parameter(const CaptureGenerator* generator, std::string_view name) {
  return generator != nullptr && std::any_of(generator->numbers.begin(), generator->numbers.end(),
                                             [&](const auto& number) { return number.name == name; });
}

Result<void> read_fixed(const CaptureTable& at, const ConfigValue& source, bool npy, Capture& capture) {
  KW_TRY(const auto array, npy ? read_npy(at.folder, source, at.problem) : read_number_array(source));
  auto& declared = capture.declared;
  if (array.extents.size() != declared.axes.size()) {
    return fail_at(errc::capture_values, source.where,
                   fmt::format("tensor {} has {} axes, but its values have {} dimensions", declared.name,
                               declared.axes.size(), array.extents.size()),
                   "name one axis per level of brackets");
  }
  KW_TRY_VOID(learn_axes(at, declared, array.extents, source.where));
  auto stored = stored_values(declared, array.extents, array.values);
  if (!stored) {
    stored.error().where = source.where;
    return tl::unexpected(std::move(stored).error());
  }
  learn_facts(*stored, declared);
  const std::string_view bytes(reinterpret_cast<const char*>(stored->values.data()),
                               stored->values.size() * sizeof(float));
  capture.source_text = fmt::format("values {}\n", hash_bytes(bytes).hex());
  capture.source = FixedValues{std::move(stored->extents), std::move(stored->values)};
  return {};
}

Result<void> read_formula(const CaptureTable& at, const ConfigValue& source, Capture& capture) {
  KW_TRY_VOID(check_kind(source, "'formula'", ConfigKind::text));
  auto formula = parse_formula(source.text, capture.declared.axes.size(), mod_scope(at.problem));
  if (!formula) {
    return with_context(placed_in_file(std::move(formula).error(), source),
                        fmt::format("reading the formula of tensor {}", capture.declared.name));
  }
  const auto type = formula->nodes[static_cast<std::size_t>(formula->root)].type;
  const auto wanted = scalar_type(capture.declared.dtype);
  if (type != wanted && !(type == ScalarType::integer && wanted == ScalarType::real)) {
    constexpr std::array k_names = {"a boolean", "an integer", "a float"};
    return fail_at(errc::problem_type, source.where,
                   fmt::format("the formula gives {}, but tensor {} holds {}", k_names[static_cast<std::size_t>(type)],
                               capture.declared.name, to_string(capture.declared.dtype)),
                   "change the dtype, or convert with .int(), .float() or a comparison");
  }
  capture.source_text = "formula\n" + canonical_mod(*formula);
  capture.source = FormulaValues{*std::move(formula)};
  return {};
}

Result<void> read_generator(const CaptureTable& at, const CaptureGenerator& generator, const ConfigValue& source,
                            Capture& capture) {
  auto& declared = capture.declared;
  const auto& fills = generator.dtypes;
  if (std::find(fills.begin(), fills.end(), declared.dtype) == fills.end()) {
    std::vector<std::string> names;
    for (const auto dtype : fills) names.emplace_back(to_string(dtype));
    return fail_at(errc::problem_value, at.table.find("dtype")->where,
                   fmt::format("generator '{}' makes no {}", source.text, to_string(declared.dtype)),
                   fmt::format("choose the dtype among {}", join(names)));
  }
  if (declared.axes.size() < generator.least_dimensions) {
    return fail_at(
        errc::problem_value, source.where,
        fmt::format("generator '{}' fills tensors of at least {} axes", source.text, generator.least_dimensions));
  }
  GeneratedValues generated{source.text, {}, {}};
  for (const auto& number : generator.numbers) KW_TRY_VOID(read_parameter(at, number, generated));
  for (const auto name : generator.captures) KW_TRY_VOID(read_reference(at, name, generated));
  declared.sorted = declared.sorted || generator.sorted;
  learn_bound("low", generator, generated, declared.dtype, declared.low);
  learn_bound("high", generator, generated, declared.dtype, declared.high);
  if (generator.counts) declared.low = std::max(declared.low, 0.0);
  capture.source_text = fmt::format("generator {}\n", generated.generator);
  for (const auto& [name, number] : generated.numbers) {
    capture.source_text += fmt::format(" {}\n{}", name, canonical_mod(number));
  }
  for (const auto& [name, other] : generated.names) capture.source_text += fmt::format(" {} {}\n", name, other);
  capture.source = std::move(generated);
  return {};
}

}  // namespace kw
