#include "program/operators/operator_table.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "base/closest_name.hpp"

namespace kw {
namespace {

constexpr std::string_view k_functional = "torch.nn.functional.";
constexpr std::string_view k_method = "Tensor.";
using OperatorsByPath = std::map<std::string, FoundOperator, std::less<>>;

void add_paths(OperatorsByPath& paths, const OperatorRow& row) {
  const auto letters = row.calls.substr(0, row.calls.find(' '));
  const auto add = [&](std::string path, bool in_place) {
    paths.emplace(std::move(path), FoundOperator{&row, in_place});
  };
  const std::string name(row.name);
  const bool in_place = letters.find('i') != std::string_view::npos;
  for (const auto& [letter, prefix] :
       {std::pair<char, std::string_view>{'t', "torch."}, {'f', k_functional}, {'m', k_method}}) {
    if (letters.find(letter) == std::string_view::npos) continue;
    add(std::string(prefix) + name, false);
    if (in_place) add(std::string(prefix) + name + "_", true);
  }
  for (auto rest = row.calls.substr(letters.size()); !rest.empty();) {
    rest.remove_prefix(1);
    const auto alias = rest.substr(0, rest.find(' '));
    rest.remove_prefix(alias.size());
    if (alias.starts_with("F.")) {
      add(std::string(k_functional) + std::string(alias.substr(2)), false);
    } else if (alias.starts_with("x.")) {
      add(std::string(k_method) + std::string(alias.substr(2)), alias.ends_with('_'));
    } else {
      add(std::string(alias), alias.ends_with('_'));
    }
  }
}

std::array<std::span<const OperatorRow>, 15> all_operator_rows() {
  return {elementwise_rows(),
          activation_operator_rows(),
          binary_rows(),
          reduction_rows(),
          scan_rows(),
          layout_rows(),
          joining_rows(),
          indexing_rows(),
          creation_operator_rows(),
          product_rows(),
          recurrence_rows(),
          convolution_rows(),
          pooling_rows(),
          normalisation_rows(),
          loss_rows()};
}

const OperatorsByPath& operators_by_path() {
  static const OperatorsByPath k_paths = [] {
    OperatorsByPath paths;
    for (const auto rows : all_operator_rows()) {
      for (const auto& row : rows) add_paths(paths, row);
    }
    return paths;
  }();
  return k_paths;
}

const std::vector<SchemaParameter>& schema_of(const OperatorRow& row) {
  using Schemas = std::map<const OperatorRow*, std::vector<SchemaParameter>>;
  static const Schemas k_schemas = [] {
    Schemas schemas;
    for (const auto rows : all_operator_rows()) {
      for (const auto& one : rows) schemas[&one] = parse_schema(one.schema);
    }
    return schemas;
  }();
  return k_schemas.at(&row);
}

}  // namespace

std::optional<FoundOperator> find_tensor_operator(std::string_view path) {
  const auto found = operators_by_path().find(path);
  if (found == operators_by_path().end()) return std::nullopt;
  return found->second;
}

const OperatorRow* operator_named(std::string_view name) {
  for (const auto rows : all_operator_rows()) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
    if (found != rows.end()) return &*found;
  }
  return nullptr;
}

const RefusedOperator* find_refused_operator(std::string_view path) {
  const auto rows = refused_operators();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.path == path; });
  return found == rows.end() ? nullptr : &*found;
}

std::optional<std::string> nearest_operator(std::string_view path) {
  const auto dot = path.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto prefix = path.substr(0, dot + 1);
  std::vector<std::string> known;
  for (const auto& [one, row] : operators_by_path()) {
    if (one.starts_with(prefix) && one.find('.', prefix.size()) == std::string::npos) {
      known.push_back(one.substr(prefix.size()));
    }
  }
  const auto near = closest_name(path.substr(dot + 1), known);
  if (!near) return std::nullopt;
  return std::string(prefix) + *near;
}

Result<CalledNode> call_operator_row(Graph& graph, const OperatorRow& row, const std::vector<GivenArgument>& given,
                                     const CallSettings& settings) {
  constexpr std::size_t k_most_axes = 16;
  constexpr std::size_t k_values_per_node = 8;
  if (graph.nodes.size() >= settings.most_nodes || graph.values.size() >= k_values_per_node * settings.most_nodes) {
    return fail_at(errc::program_limit, settings.where, fmt::format("more than {} operations", settings.most_nodes),
                   "read a part of the module, with fewer layers or steps");
  }
  Node node;
  node.op = row.name;
  node.where = settings.where;
  node.module = settings.module;
  node.random = row.random;
  KW_TRY(node.arguments, bind_arguments(schema_of(row), given, settings.shown, settings.where));
  OperatorCall call(graph, node, settings.shown);
  if (auto done = row.rule(call); !done) {
    auto error = std::move(done).error();
    if (error.where.line == 0) error.where = settings.where;
    return tl::unexpected(std::move(error));
  }
  if (settings.mode == ProgramMode::train_no_dropout && is_dropout(node)) node.random = false;
  for (const auto& type : call.outputs()) {
    const bool negative =
        std::any_of(type.shape.begin(), type.shape.end(), [](const Extent& extent) { return extent.value() < 0; });
    if (negative || type.shape.size() > k_most_axes) {
      return call.shape_error(
          fmt::format("the result of {} would have the shape {}", settings.shown, argument_text(type.shape)));
    }
    auto count = element_count(type.shape);
    if (!count) return call.shape_error(fmt::format("the result of {} has too many elements", settings.shown));
  }
  CalledNode called{graph.nodes.size(), {}, call.is_tuple()};
  for (const auto& type : call.outputs()) {
    called.outputs.push_back(graph.values.size());
    graph.values.push_back({type, called.node, {}});
  }
  node.outputs = called.outputs;
  graph.nodes.push_back(std::move(node));
  return called;
}

}  // namespace kw
