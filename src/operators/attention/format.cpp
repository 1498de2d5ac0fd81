#include "operators/attention/parts.hpp"

// The attention operator's part of a problem file: [attention], its axes, tensors and mods.

#include <bit>
#include <cmath>
#include <utility>

#include "mod/expression/canonical.hpp"
#include "operators/attention/attention.hpp"
#include "problem/file/problem_mod.hpp"
#include "problem/file/problem_reader.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_max_head_size = 1024;
constexpr double k_max_scale = 1e6;

void copy_if_absent(Axes& axes, const char* to, const char* from) {
  if (axes.count(to) == 0 && axes.count(from) > 0) axes[to] = axes[from];
}

void default_axes(Axes& axes) {
  copy_if_absent(axes, "Hkv", "Hq");
  copy_if_absent(axes, "Skv", "Sq");
  copy_if_absent(axes, "Dv", "D");
}

Result<void> check_attention_axes(const Problem&, const Axes& axes) {
  const auto query_heads = axes.at("Hq");
  const auto key_heads = axes.at("Hkv");
  if (query_heads % key_heads != 0) {
    return fail(Error{errc::problem_value, fmt::format("Hkv = {} does not divide Hq = {}", key_heads, query_heads),
                      "each key head serves the same number of query heads; set both when both change"});
  }
  for (const auto* name : {"D", "Dv"}) {
    if (axes.at(name) > k_max_head_size) {
      return fail(Error{errc::problem_value,
                        fmt::format("{} = {} is more than {}", name, axes.at(name), k_max_head_size),
                        "the size of one head is rarely above 256"});
    }
  }
  return {};
}

Result<std::optional<ModFunction>> read_mod(const ConfigValue& table, const char* key, ModRole role,
                                            const Problem& problem, ModuleFiles* beside) {
  const auto* value = table.find(key);
  if (value == nullptr) return std::nullopt;
  KW_TRY_VOID(check_kind(*value, fmt::format("'{}'", key), ConfigKind::text));
  auto mod = parse_mod(value->text, role, mod_scope(problem), beside);
  if (!mod) return with_context(placed_in_file(std::move(mod).error(), *value), fmt::format("reading {}", key));
  return *std::move(mod);
}

Result<std::optional<double>> read_scale(const ConfigValue& table) {
  const auto* value = table.find("scale");
  if (value == nullptr) return std::nullopt;
  if (value->kind != ConfigKind::integer) KW_TRY_VOID(check_kind(*value, "'scale'", ConfigKind::real));
  const double scale = value->kind == ConfigKind::integer ? static_cast<double>(value->integer) : value->real;
  if (std::isfinite(scale) && std::fabs(scale) <= k_max_scale && scale != 0.0) return scale;
  return fail(Error{errc::problem_value, fmt::format("scale = {} is not a finite number other than 0", scale),
                    "leave it out for 1/sqrt(D)", value->where});
}

Result<DType> read_dtype(const ConfigValue& table) {
  KW_TRY(const auto dtype, required_text(table, "dtype", "f32"));
  if (dtype == "f32") return DType::f32;
  if (dtype == "f16") return DType::f16;
  if (dtype == "bf16") return DType::bf16;
  return fail(Error{errc::problem_value, fmt::format("dtype '{}' is not supported", dtype),
                    "write \"f32\", \"f16\" or \"bf16\"", table.find("dtype")->where});
}

Result<bool> read_lse(const ConfigValue& table) {
  const auto* value = table.find("lse");
  if (value == nullptr) return false;
  KW_TRY_VOID(check_kind(*value, "'lse'", ConfigKind::boolean));
  return value->boolean;
}

Result<void> read_attention(const ConfigValue& root, ModuleFiles* beside, Problem& problem) {
  const auto* table = root.find("attention");
  if (table == nullptr) {
    return fail(Error{errc::problem_missing_key, "[attention] is missing",
                      "add a table [attention] with at least: dtype = \"f32\"", root.where});
  }
  KW_TRY_VOID(check_kind(*table, "'attention'", ConfigKind::table));
  KW_TRY_VOID(check_keys(*table, "[attention]", {"dtype", "scale", "lse", "score_mod", "mask_mod"}));
  AttentionSpec spec;
  KW_TRY(spec.dtype, read_dtype(*table));
  KW_TRY(spec.lse, read_lse(*table));
  KW_TRY(spec.scale, read_scale(*table));
  KW_TRY(spec.score_mod, read_mod(*table, "score_mod", ModRole::score_mod, problem, beside));
  KW_TRY(spec.mask_mod, read_mod(*table, "mask_mod", ModRole::mask_mod, problem, beside));
  problem.inputs = {{"Q", spec.dtype, {"B", "Hq", "Sq", "D"}},
                    {"K", spec.dtype, {"B", "Hkv", "Skv", "D"}},
                    {"V", spec.dtype, {"B", "Hkv", "Skv", "Dv"}}};
  problem.outputs = {{"O", spec.dtype, {"B", "Hq", "Sq", "Dv"}}};
  if (spec.lse) problem.outputs.push_back({"LSE", DType::f32, {"B", "Hq", "Sq"}, 1.0});
  set_attention(problem, std::move(spec));
  return {};
}

std::string canonical_attention(const Problem& problem) {
  const auto& spec = *attention_of(problem);
  std::string text = "scale ";
  text += spec.scale ? fmt::format("{:#x}\n", std::bit_cast<std::uint64_t>(*spec.scale)) : "1/sqrt(D)\n";
  if (spec.score_mod) text += "score_mod\n" + canonical_mod(*spec.score_mod);
  if (spec.mask_mod) text += "mask_mod\n" + canonical_mod(*spec.mask_mod);
  return text;
}

std::vector<UserFunction> functions_of(const Problem& problem) {
  const auto& spec = *attention_of(problem);
  std::vector<UserFunction> functions;
  if (spec.score_mod) functions.push_back({"score_mod", &*spec.score_mod});
  if (spec.mask_mod) functions.push_back({"mask_mod", &*spec.mask_mod});
  return functions;
}

/// A function's parameters say which of the two mods it becomes; the problem's other mod stays.
Result<Problem> with_attention_mod(Problem problem, const ModText& text) {
  KW_TRY(auto named, read_mod_file(problem, text));
  auto spec = *attention_of(problem);
  (named.mod.role == ModRole::score_mod ? spec.score_mod : spec.mask_mod) = std::move(named.mod.function);
  set_attention(problem, std::move(spec));
  problem.name = std::move(named.name);
  return problem;
}

// Operands and axes. What else the styles write, kernel_name() and free_buffer_name() keep apart from a user's names.
constexpr std::string_view k_reserved = " B D Dv Hkv Hq K LSE O Q Skv Sq V ";

}  // namespace

OperatorFormat attention_format() {
  return {.op = "attention",
          .axes = {"B", "Hq", "Hkv", "Sq", "Skv", "D", "Dv"},
          .reserved = k_reserved,
          .default_axes = default_axes,
          .check_axes = check_attention_axes,
          .read = read_attention,
          .canonical = canonical_attention,
          .functions = functions_of,
          .with_mod = with_attention_mod,
          .from_module = refuse_module};
}

}  // namespace kw
