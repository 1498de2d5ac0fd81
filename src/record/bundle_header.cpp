// The keys of a bundle's header, from untrusted bytes: everything is bounded and checked, and an error says where in
// the file it sits and what to write instead.

#include "record/bundle_header.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <set>
#include <utility>

#include "record/bundle_limits.hpp"
#include "record/identifier.hpp"
#include "record/toml_guard.hpp"
#include "record/utf8.hpp"
#include "spec/closest_name.hpp"

namespace kw {
namespace {

using Names = std::vector<std::string>;

const Names k_top_keys = {"format",      "target",   "problem", "generator", "deterministic",
                          "constraints", "tunables", "defines", "scratch",   "launch"};
const Names k_tunable_keys = {"values", "default"};
const Names k_scratch_keys = {"dtype", "elements"};
const Names k_launch_keys = {"kernel", "grid", "block", "shared_bytes", "args"};

bool is_top_key(std::string_view key) {
  return std::find(k_top_keys.begin(), k_top_keys.end(), key) != k_top_keys.end();
}

std::string belongs_at_the_top(std::string_view key) {
  return fmt::format("'{}' is a key of the header: write it before the first [table]", key);
}

class HeaderReader {
 public:
  HeaderReader(std::string file, int header_line) : file_(std::move(file)), header_line_(header_line) {}

  Result<Bundle> read(const toml::table& top);
  [[nodiscard]] SourcePlace place(const toml::source_region& region) const {
    return {file_, header_line_ - 1 + static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
  }

 private:
  using Item = std::pair<const toml::key*, const toml::node*>;

  tl::unexpected<Error> refuse(ErrorCode code, const toml::node& at, std::string message, std::string hint = "") const {
    return fail(Error{code, std::move(message), std::move(hint), place(at.source())});
  }

  static std::vector<Item> in_written_order(const toml::table& table);
  [[nodiscard]] Result<void> check_keys(const toml::table& table, const Names& known, std::string_view what) const;
  [[nodiscard]] Result<const toml::node*> required(const toml::table& table, std::string_view key,
                                                   std::string_view what) const;
  [[nodiscard]] Result<const toml::table*> section(const toml::table& top, std::string_view key,
                                                   std::size_t max_entries) const;
  [[nodiscard]] Result<const toml::array*> array(const toml::node& node, std::string_view what, std::size_t min_items,
                                                 std::size_t max_items) const;
  [[nodiscard]] Result<std::string> free_text(const toml::table& table, std::string_view key) const;
  [[nodiscard]] Result<std::string> name(const toml::key& key, std::string_view what);
  [[nodiscard]] Result<std::string> expression(const toml::node& node, std::string_view what) const;
  [[nodiscard]] Result<std::vector<std::string>> expressions(const toml::node& node, std::string_view what,
                                                             std::size_t min_items, std::size_t max_items) const;
  [[nodiscard]] Result<void> read_top(const toml::table& top, Bundle& bundle) const;
  [[nodiscard]] Result<Tunable> read_tunable(const Item& item);
  [[nodiscard]] Result<ScratchBuffer> read_scratch(const Item& item);
  [[nodiscard]] Result<Launch> read_launch(const toml::node& node, std::size_t number) const;
  [[nodiscard]] Result<void> read_launches(const toml::table& top, Bundle& bundle) const;

  std::string file_;
  int header_line_;
  std::set<std::string, std::less<>> names_;  ///< of tunables, definitions and scratch buffers, to find collisions
};

/// toml++ keeps keys sorted; a bundle keeps the order its author chose.
std::vector<HeaderReader::Item> HeaderReader::in_written_order(const toml::table& table) {
  std::vector<Item> items;
  for (const auto& [key, node] : table) items.emplace_back(&key, &node);
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    const auto& first = a.first->source().begin;
    const auto& second = b.first->source().begin;
    return std::pair(first.line, first.column) < std::pair(second.line, second.column);
  });
  return items;
}

Result<void> HeaderReader::check_keys(const toml::table& table, const Names& known, std::string_view what) const {
  for (const auto& [key, node] : in_written_order(table)) {
    const std::string text(key->str());
    if (std::find(known.begin(), known.end(), text) != known.end()) continue;
    Error error{errc::bundle_unknown_key, fmt::format("{} has no key '{}'", what, text), "", place(key->source())};
    const auto nearest = closest_name(text, known);
    if (is_top_key(text)) {
      error.hint = belongs_at_the_top(text);
    } else if (nearest) {
      error.hint = "did you mean '" + *nearest + "'?";
    } else {
      error.hint = "its keys: " + comma_list(known);
    }
    return fail(std::move(error));
  }
  return {};
}

Result<const toml::node*> HeaderReader::required(const toml::table& table, std::string_view key,
                                                 std::string_view what) const {
  if (const auto* node = table.get(key)) return node;
  return refuse(errc::bundle_missing_key, table, fmt::format("{} needs the key '{}'", what, key),
                is_top_key(key) ? belongs_at_the_top(key) : "");
}

/// Null when the section is absent.
Result<const toml::table*> HeaderReader::section(const toml::table& top, std::string_view key,
                                                 std::size_t max_entries) const {
  const auto* node = top.get(key);
  if (node == nullptr) return nullptr;
  const auto* table = node->as_table();
  if (table == nullptr) return refuse(errc::bundle_value, *node, fmt::format("'{}' must be a table: [{}]", key, key));
  if (table->size() > max_entries) {
    return refuse(errc::bundle_too_large, *node,
                  fmt::format("[{}] has {} entries; at most {} are allowed", key, table->size(), max_entries));
  }
  // In TOML a key below [tunables] belongs to it, which is the mistake people make with `constraints`.
  for (const auto& [name, value] : *table) {
    if (is_top_key(name.str()) && !value.is_table() && !value.is_string()) {
      return refuse(errc::bundle_unknown_key, value, fmt::format("'{}' does not belong in [{}]", name.str(), key),
                    belongs_at_the_top(name.str()));
    }
  }
  return table;
}

Result<const toml::array*> HeaderReader::array(const toml::node& node, std::string_view what, std::size_t min_items,
                                               std::size_t max_items) const {
  const auto* items = node.as_array();
  if (items == nullptr) return refuse(errc::bundle_value, node, fmt::format("{} must be an array: [...]", what));
  if (items->size() > max_items) {
    return refuse(errc::bundle_too_large, node,
                  fmt::format("{} has {} entries; at most {} are allowed", what, items->size(), max_items));
  }
  if (items->size() < min_items) return refuse(errc::bundle_value, node, fmt::format("{} must not be empty", what));
  return items;
}

/// "" when absent.
Result<std::string> HeaderReader::free_text(const toml::table& table, std::string_view key) const {
  const auto* node = table.get(key);
  if (node == nullptr) return std::string();
  const auto text = node->value_exact<std::string>();
  if (!text) return refuse(errc::bundle_value, *node, fmt::format("'{}' must be a string", key));
  if (text->size() > bundle_format::k_max_free_text_bytes) {
    return refuse(errc::bundle_too_large, *node,
                  fmt::format("'{}' has {} bytes; at most {} are allowed", key, text->size(),
                              bundle_format::k_max_free_text_bytes));
  }
  // An escape in the TOML could smuggle in what the raw bytes may not hold.
  if (first_non_text_byte(*text)) return refuse(errc::bundle_value, *node, fmt::format("'{}' holds a NUL byte", key));
  return *text;
}

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
                      fmt::format("choose a name other than {}", fmt::join(bundle_format::k_reserved, ", ")), where});
  }
  if (!names_.insert(text).second) {
    return fail(Error{errc::bundle_value, fmt::format("the name '{}' is used twice", text),
                      "tunables, definitions and scratch buffers share one set of names", where});
  }
  return text;
}

Result<std::string> HeaderReader::expression(const toml::node& node, std::string_view what) const {
  if (const auto number = node.value_exact<std::int64_t>()) {
    if (*number == INT64_MIN) return refuse(errc::bundle_value, node, fmt::format("{} is out of range", what));
    return std::to_string(*number);
  }
  auto text = node.value_exact<std::string>();
  if (!text) {
    return refuse(errc::bundle_value, node, fmt::format("{} must be an integer or an expression in quotes", what));
  }
  if (auto checked = check_int_expr(*text); !checked) {
    Error error = std::move(checked).error();
    error.where = place(node.source());
    return with_context(std::move(error), fmt::format("reading {}", what));
  }
  return *std::move(text);
}

Result<std::vector<std::string>> HeaderReader::expressions(const toml::node& node, std::string_view what,
                                                           std::size_t min_items, std::size_t max_items) const {
  KW_TRY(const auto* items, array(node, what, min_items, max_items));
  std::vector<std::string> texts;
  for (const auto& item : *items) {
    KW_TRY(auto text, expression(item, fmt::format("entry {} of {}", texts.size() + 1, what)));
    texts.push_back(std::move(text));
  }
  return texts;
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
  KW_TRY(bundle.target, free_text(top, "target"));
  if (!is_c_identifier(bundle.target)) {
    return refuse(errc::bundle_value, *target, fmt::format("'{}' is not the name of a target", bundle.target),
                  "write, for example, target = \"opencl\"");
  }
  KW_TRY(bundle.problem, free_text(top, "problem"));
  KW_TRY(bundle.generator, free_text(top, "generator"));
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
  return launch;
}

Result<void> HeaderReader::read_launches(const toml::table& top, Bundle& bundle) const {
  KW_TRY(const auto* node, required(top, "launch", "the header"));
  const auto* items = node->as_array();
  if (items == nullptr || items->empty()) {
    return refuse(errc::bundle_value, *node, "'launch' must be an array of tables",
                  "write each launch below a line [[launch]]");
  }
  KW_TRY_VOID(array(*node, "'launch'", 1, bundle_format::k_max_launches));
  for (const auto& item : *items) {
    KW_TRY(auto launch, read_launch(item, bundle.launches.size() + 1));
    bundle.launches.push_back(std::move(launch));
  }
  return {};
}

Result<Bundle> HeaderReader::read(const toml::table& top) {
  KW_TRY_VOID(check_keys(top, k_top_keys, "the header"));
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
  return bundle;
}

}  // namespace

Result<Bundle> read_bundle_header(std::string_view toml_text, const std::string& file, int first_line) {
  if (const auto line = malformed_table_line(toml_text)) {
    return fail(Error{errc::bundle_syntax,
                      "the header is not TOML: this is no [table] line",
                      "the tables are [tunables], [defines], [scratch] and [[launch]]",
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
