// The keys of a bundle's header, from untrusted bytes: everything is bounded and checked, and an error says where in
// the file it sits and what to write instead.

#include "record/bundle_header.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/identifier.hpp"
#include "base/text.hpp"
#include "hardware/device_match.hpp"
#include "record/bundle_limits.hpp"
#include "record/header_access.hpp"
#include "record/toml_guard.hpp"

namespace kw {
namespace {

using Names = HeaderAccess::Names;

const Names k_tunable_keys = {"values", "default"};
const Names k_scratch_keys = {"dtype", "elements"};
const Names k_launch_keys = {"kernel", "grid", "block", "shared_bytes", "args", "repeat"};
const Names k_row_keys = {"device", "when", "tunables"};

class HeaderReader : public HeaderAccess {
 public:
  using HeaderAccess::HeaderAccess;
  Result<Bundle> read(const toml::table& top);

 private:
  [[nodiscard]] Result<std::string> name(const toml::key& key, std::string_view what);
  [[nodiscard]] Result<void> read_top(const toml::table& top, Bundle& bundle) const;
  [[nodiscard]] Result<Tunable> read_tunable(const Item& item);
  [[nodiscard]] Result<ScratchBuffer> read_scratch(const Item& item);
  [[nodiscard]] Result<Launch> read_launch(const toml::node& node, std::size_t number) const;
  [[nodiscard]] Result<void> read_launches(const toml::table& top, Bundle& bundle) const;
  [[nodiscard]] Result<std::string> read_row_device(const toml::table& row, const std::string& what) const;
  [[nodiscard]] Result<std::vector<std::string>> read_row_when(const toml::node& node, const std::string& what,
                                                               const Bundle& bundle) const;
  [[nodiscard]] Result<IntBindings> read_row_tunables(const toml::node& node, const std::string& what,
                                                      const Bundle& bundle) const;
  [[nodiscard]] Result<DispatchRow> read_row(const toml::node& node, std::size_t number, const Bundle& bundle) const;
  [[nodiscard]] Result<void> read_rows(const toml::table& top, Bundle& bundle) const;

  std::set<std::string, std::less<>> names_;  ///< of tunables, definitions and scratch buffers, to find collisions
};

/// The key as a name that kernels and expressions can use; each may be taken once in the whole header.
Result<std::string> HeaderReader::name(const toml::key& key, std::string_view what) {
  const std::string text(key.str());
  const auto where = place(key.source());
  if (!is_c_identifier(text)) {
    return fail(Error{errc::bundle_value, fmt::format("the {} name '{}' is not a C identifier", what, text),
                      "use letters, digits and underscores, not starting with a digit, at most 64", where});
  }
  if (bundle_format::is_reserved(text)) {
    return fail(Error{errc::bundle_value, fmt::format("the {} name '{}' is reserved", what, text),
                      fmt::format("choose a name other than {}", join(bundle_format::k_reserved)), where});
  }
  if (!names_.insert(text).second) {
    return fail(Error{errc::bundle_value, fmt::format("the name '{}' is used twice", text),
                      "tunables, definitions and scratch buffers share one set of names", where});
  }
  return text;
}

Result<void> HeaderReader::read_top(const toml::table& top, Bundle& bundle) const {
  KW_TRY(const auto* format, required(top, "format", "the header"));
  const auto version = format->value_exact<std::int64_t>();
  if (!version) return refuse(errc::bundle_value, *format, "'format' must be an integer");
  if (*version != bundle_format::k_version) {
    return refuse(errc::bundle_version, *format, fmt::format("this is bundle format {}, not 1", *version),
                  "write format = 1, or use a newer kernelwright");
  }
  KW_TRY(const auto* target, required(top, "target", "the header"));
  KW_TRY(bundle.target, free_text(top, "target", bundle_format::k_max_free_text_bytes));
  if (!is_c_identifier(bundle.target)) {
    return refuse(errc::bundle_value, *target, fmt::format("'{}' is not the name of a target", bundle.target),
                  "write, for example, target = \"opencl\"");
  }
  KW_TRY(bundle.problem, free_text(top, "problem", bundle_format::k_max_free_text_bytes));
  KW_TRY(bundle.generator, free_text(top, "generator", bundle_format::k_max_free_text_bytes));
  if (const auto* node = top.get("deterministic")) {
    const auto value = node->value_exact<bool>();
    if (!value) return refuse(errc::bundle_value, *node, "'deterministic' must be true or false");
    bundle.deterministic = *value;
  }
  if (const auto* node = top.get("constraints")) {
    KW_TRY(bundle.constraints, expressions(*node, "'constraints'", 0, bundle_format::k_max_constraints));
  }
  return {};
}

Result<Tunable> HeaderReader::read_tunable(const Item& item) {
  Tunable tunable;
  KW_TRY(tunable.name, name(*item.first, "tunable"));
  const auto what = fmt::format("tunable '{}'", tunable.name);
  const auto* table = item.second->as_table();
  if (table == nullptr) {
    return refuse(errc::bundle_value, *item.second, what + " must be a table",
                  tunable.name + " = {values = [1, 2, 4], default = 2}");
  }
  KW_TRY_VOID(check_keys(*table, k_tunable_keys, what));
  KW_TRY(const auto* values, required(*table, "values", what));
  KW_TRY(const auto* items, array(*values, "'values' of " + what, 1, bundle_format::k_max_values));
  for (const auto& node : *items) {
    const auto value = node.value_exact<std::int64_t>();
    if (!value) return refuse(errc::bundle_value, node, "the values of " + what + " must be integers");
    if (std::find(tunable.values.begin(), tunable.values.end(), *value) != tunable.values.end()) {
      return refuse(errc::bundle_value, node, fmt::format("{} lists the value {} twice", what, *value));
    }
    tunable.values.push_back(*value);
  }
  tunable.default_value = tunable.values.front();
  if (const auto* node = table->get("default")) {
    const auto value = node->value_exact<std::int64_t>();
    if (!value || std::find(tunable.values.begin(), tunable.values.end(), *value) == tunable.values.end()) {
      return refuse(errc::bundle_value, *node, "the default of " + what + " must be one of its values");
    }
    tunable.default_value = *value;
  }
  return tunable;
}

Result<ScratchBuffer> HeaderReader::read_scratch(const Item& item) {
  ScratchBuffer scratch;
  KW_TRY(scratch.name, name(*item.first, "scratch buffer"));
  const auto what = fmt::format("scratch buffer '{}'", scratch.name);
  const auto* table = item.second->as_table();
  if (table == nullptr) {
    return refuse(errc::bundle_value, *item.second, what + " must be a table",
                  scratch.name + " = {dtype = \"f32\", elements = \"...\"}");
  }
  KW_TRY_VOID(check_keys(*table, k_scratch_keys, what));
  KW_TRY(const auto* dtype, required(*table, "dtype", what));
  const auto wanted = dtype->value_exact<std::string>();
  constexpr DType k_all[] = {DType::f32, DType::f16, DType::bf16, DType::i32, DType::boolean};
  const auto* found = std::find_if(std::begin(k_all), std::end(k_all),
                                   [&](DType candidate) { return wanted && to_string(candidate) == *wanted; });
  if (found == std::end(k_all)) {
    return refuse(errc::bundle_value, *dtype, "the dtype of " + what + " is unknown",
                  "write \"f32\", \"f16\", \"bf16\", \"i32\" or \"bool\"");
  }
  scratch.dtype = *found;
  KW_TRY(const auto* elements, required(*table, "elements", what));
  KW_TRY(scratch.elements, expression(*elements, "'elements' of " + what));
  return scratch;
}

Result<Launch> HeaderReader::read_launch(const toml::node& node, std::size_t number) const {
  const auto what = fmt::format("launch {}", number);
  const auto* table = node.as_table();
  if (table == nullptr) return refuse(errc::bundle_value, node, what + " must be a table", "write [[launch]]");
  KW_TRY_VOID(check_keys(*table, k_launch_keys, what));
  Launch launch;
  KW_TRY(const auto* kernel, required(*table, "kernel", what));
  launch.kernel = kernel->value_exact<std::string>().value_or("");
  if (!is_c_identifier(launch.kernel)) {
    return refuse(errc::bundle_value, *kernel, "'kernel' of " + what + " must be the name of a kernel in the source");
  }
  KW_TRY(const auto* grid, required(*table, "grid", what));
  KW_TRY(launch.grid, expressions(*grid, "'grid' of " + what, 1, 3));
  KW_TRY(const auto* block, required(*table, "block", what));
  KW_TRY(launch.block, expressions(*block, "'block' of " + what, 1, 3));
  if (launch.block.size() != launch.grid.size()) {
    return refuse(
        errc::bundle_value, *block,
        fmt::format("'block' of {} has {} entries but 'grid' has {}", what, launch.block.size(), launch.grid.size()));
  }
  if (const auto* shared = table->get("shared_bytes")) {
    KW_TRY(launch.shared_bytes, expression(*shared, "'shared_bytes' of " + what));
  }
  KW_TRY(const auto* args, required(*table, "args", what));
  KW_TRY(launch.args, expressions(*args, "'args' of " + what, 0, bundle_format::k_max_args));
  if (const auto* repeat = table->get("repeat")) {
    KW_TRY(launch.repeat, expression(*repeat, "'repeat' of " + what));
  }
  return launch;
}

Result<void> HeaderReader::read_launches(const toml::table& top, Bundle& bundle) const {
  KW_TRY(const auto* node, required(top, "launch", "the header"));
  KW_TRY(const auto* items, tables(*node, "launch", bundle_format::k_max_launches));
  for (const auto& item : *items) {
    KW_TRY(auto launch, read_launch(item, bundle.launches.size() + 1));
    bundle.launches.push_back(std::move(launch));
  }
  return {};
}

/// "" when absent: any device. Which names there are is not known here, so that a misspelt one just never fits.
Result<std::string> HeaderReader::read_row_device(const toml::table& row, const std::string& what) const {
  const auto* node = row.get("device");
  if (node == nullptr) return std::string();
  KW_TRY(auto device, free_text(row, "device", bundle_format::k_max_device_bytes));
  if (can_name_device(device)) return device;
  return refuse(errc::bundle_value, *node, fmt::format("'device' of {} names nothing", what),
                "write a device, an architecture or a generation, such as \"h200\", \"sm_90\" or \"Hopper\"; or leave "
                "it out for any device");
}

Result<std::vector<std::string>> HeaderReader::read_row_when(const toml::node& node, const std::string& what,
                                                             const Bundle& bundle) const {
  KW_TRY(auto conditions, expressions(node, "'when' of " + what, 0, bundle_format::k_max_conditions));
  for (const auto& condition : conditions) {
    for (const auto& tunable : bundle.tunables) {
      if (!mentions_name(condition, tunable.name)) continue;
      return refuse(errc::bundle_value, node, fmt::format("'when' of {} names the tunable '{}'", what, tunable.name),
                    "rows choose tunables by axes and device facts");
    }
  }
  return conditions;
}

Result<IntBindings> HeaderReader::read_row_tunables(const toml::node& node, const std::string& what,
                                                    const Bundle& bundle) const {
  const auto* table = node.as_table();
  if (table == nullptr) {
    return refuse(errc::bundle_value, node, fmt::format("'tunables' of {} must be a table", what),
                  "write, for example, tunables = {BM = 4}");
  }
  IntBindings tunables;
  for (const auto& [key, value] : in_written_order(*table)) {
    const std::string name(key->str());
    const auto number = value->value_exact<std::int64_t>();
    if (!number) {
      return refuse(errc::bundle_value, *value, fmt::format("{} of {} must be an integer", name, what));
    }
    const auto checked = allowed_tunable(bundle, name, *number);
    if (!checked) {
      Error error = checked.error();
      error.code = errc::bundle_value;
      error.message = fmt::format("{}: {}", what, error.message);
      error.where = place(key->source());
      return fail(std::move(error));
    }
    tunables[name] = *number;
  }
  return tunables;
}

Result<DispatchRow> HeaderReader::read_row(const toml::node& node, std::size_t number, const Bundle& bundle) const {
  const auto what = fmt::format("dispatch row {}", number);
  const auto* table = node.as_table();
  if (table == nullptr) return refuse(errc::bundle_value, node, what + " must be a table", "write [[dispatch]]");
  KW_TRY_VOID(check_keys(*table, k_row_keys, what));
  DispatchRow row;
  KW_TRY(row.device, read_row_device(*table, what));
  if (const auto* when = table->get("when")) {
    KW_TRY(row.when, read_row_when(*when, what, bundle));
  }
  KW_TRY(const auto* tunables, required(*table, "tunables", what));
  KW_TRY(row.tunables, read_row_tunables(*tunables, what, bundle));
  return row;
}

/// After the tunables, which the rows assign.
Result<void> HeaderReader::read_rows(const toml::table& top, Bundle& bundle) const {
  const auto* node = top.get("dispatch");
  if (node == nullptr) return {};
  KW_TRY(const auto* items, tables(*node, "dispatch", bundle_format::k_max_rows));
  for (const auto& item : *items) {
    KW_TRY(auto row, read_row(item, bundle.dispatch.size() + 1, bundle));
    bundle.dispatch.push_back(std::move(row));
  }
  return {};
}

Result<Bundle> HeaderReader::read(const toml::table& top) {
  KW_TRY_VOID(check_keys(top, top_keys(), "the header"));
  Bundle bundle;
  KW_TRY_VOID(read_top(top, bundle));
  KW_TRY(const auto* tunables, section(top, "tunables", bundle_format::k_max_tunables));
  for (const auto& item : tunables ? in_written_order(*tunables) : std::vector<Item>()) {
    KW_TRY(auto tunable, read_tunable(item));
    bundle.tunables.push_back(std::move(tunable));
  }
  KW_TRY(const auto* defines, section(top, "defines", bundle_format::k_max_defines));
  for (const auto& item : defines ? in_written_order(*defines) : std::vector<Item>()) {
    Definition definition;
    KW_TRY(definition.name, name(*item.first, "definition"));
    KW_TRY(definition.expression, expression(*item.second, fmt::format("definition '{}'", definition.name)));
    bundle.defines.push_back(std::move(definition));
  }
  KW_TRY(const auto* scratch, section(top, "scratch", bundle_format::k_max_scratch));
  for (const auto& item : scratch ? in_written_order(*scratch) : std::vector<Item>()) {
    KW_TRY(auto buffer, read_scratch(item));
    bundle.scratch.push_back(std::move(buffer));
  }
  KW_TRY_VOID(read_launches(top, bundle));
  KW_TRY_VOID(read_rows(top, bundle));
  return bundle;
}

}  // namespace

Result<Bundle> read_bundle_header(std::string_view toml_text, const std::string& file, int first_line) {
  if (const auto line = malformed_table_line(toml_text)) {
    return fail(Error{errc::bundle_syntax,
                      "the header is not TOML: this is not a [table] line",
                      "the tables are [tunables], [defines], [scratch], [[launch]] and [[dispatch]]",
                      {file, first_line + *line, 0}});
  }
  HeaderReader reader(file, first_line);
  try {
    return reader.read(toml::parse(in_ascii(toml_text)));
  } catch (const toml::parse_error& error) {
    return fail(Error{errc::bundle_syntax, fmt::format("the header is not TOML: {}", error.description()), "",
                      reader.place(error.source())});
  }
}

}  // namespace kw
