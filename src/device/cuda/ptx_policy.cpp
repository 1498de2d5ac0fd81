#include "device/cuda/ptx_policy.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "device/cuda/ptx_statements.hpp"

namespace kw::cuda {
namespace {

using PtxNames = std::set<std::string_view>;

struct RefusedWord {
  std::string_view word;
  std::string_view why;
};

constexpr std::string_view k_cache_wish =
    "asks the L2 cache to keep data beyond the launch; leave the cache hint and its policy out";
constexpr std::string_view k_cache_of_others = "reads or changes other launches' work; each launch stands for itself";

/// By the part of a name before its first '.', or the whole where the word has one.
constexpr auto k_refused_words = std::to_array<RefusedWord>({
    {"createpolicy", k_cache_wish},
    {"applypriority", k_cache_wish},
    {"griddepcontrol", k_cache_of_others},
    {"multimem", k_cache_of_others},
    {"trap",
     "ends the whole process's work on the GPU (a compiler also makes it of what the language forbids, such as writing "
     "to constants); leave the kernel with return"},
    {"brkpt", "stops for a debugger; leave it out"},
    {"pmevent", "counts for a profiler; leave it out"},
    {".managed", "is memory that the host shares; ask for scratch in the bundle's header"},
    {".texref", "is a texture; read buffers"},
    {".samplerref", "is a texture; read buffers"},
    {".surfref", "is a surface; write buffers"},
    {".alias", "gives a function a second name; call it by its own"},
    {".common", "is memory that other modules share; ask for scratch in the bundle's header"},
});

/// Of registers that tell the time, count, or name the launch or what started it, without '%' and trailing digits.
constexpr auto k_refused_registers =
    std::to_array<std::string_view>({"clock", "clock_hi", "globaltimer", "globaltimer_lo", "globaltimer_hi", "pm",
                                     "envreg", "gridid", "current_graph_exec"});

/// What a kernel may ask the hardware for, before the first '.'.
constexpr auto k_allowed_registers = std::to_array<std::string_view>({"tid",
                                                                      "ntid",
                                                                      "ctaid",
                                                                      "nctaid",
                                                                      "laneid",
                                                                      "warpid",
                                                                      "nwarpid",
                                                                      "smid",
                                                                      "nsmid",
                                                                      "lanemask_eq",
                                                                      "lanemask_le",
                                                                      "lanemask_lt",
                                                                      "lanemask_ge",
                                                                      "lanemask_gt",
                                                                      "clusterid",
                                                                      "nclusterid",
                                                                      "cluster_ctaid",
                                                                      "cluster_nctaid",
                                                                      "cluster_ctarank",
                                                                      "cluster_nctarank",
                                                                      "is_explicit_cluster",
                                                                      "dynamic_smem_size",
                                                                      "total_smem_size",
                                                                      "aggr_smem_size",
                                                                      "reserved_smem_offset_begin",
                                                                      "reserved_smem_offset_end",
                                                                      "reserved_smem_offset_cap",
                                                                      "reserved_smem_offset_"});

template <typename List>
bool is_listed(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != std::ranges::end(list);
}

bool has_token(const PtxStatement& statement, std::string_view token) {
  return is_listed(statement, token);
}

std::string_view without_digits(std::string_view name) {
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())) != 0) name.remove_suffix(1);
  return name;
}

std::string_view before_dot(std::string_view name) {
  return name.substr(0, name.find('.', 1));
}

bool is_ptx_name(std::string_view token) {
  const auto first = static_cast<unsigned char>(token.front());
  return std::isalpha(first) != 0 || first == '_' || first == '$' || first == '%';
}

/// "%rd" of `.reg .b64 %rd<9>` and "%p" of `.reg .pred %p`.
void add_registers(const PtxStatement& statement, PtxNames& declared) {
  if (statement.front() != ".reg") return;
  for (const std::string_view token : statement) {
    if (is_ptx_name(token)) declared.insert(token);
  }
}

std::optional<std::string> refused_register(std::string_view token, const PtxNames& declared) {
  if (!token.starts_with('%')) return std::nullopt;
  const std::string_view name = before_dot(token.substr(1));
  const bool refused = is_listed(k_refused_registers, name) || is_listed(k_refused_registers, without_digits(name)) ||
                       name.starts_with("pm0") || name.starts_with("globaltimer");
  const bool own = declared.contains(token) || declared.contains(without_digits(token));
  if (!refused && (own || is_listed(k_allowed_registers, name))) return std::nullopt;
  return fmt::format("it reads the register %{}: a kernel may not know the time, count events or tell launches apart",
                     name);
}

std::optional<std::string> refused_word(std::string_view token) {
  const auto found =
      std::ranges::find_if(k_refused_words, [&](const RefusedWord& one) { return before_dot(token) == one.word; });
  if (found != k_refused_words.end()) return fmt::format("{} {}", found->word, found->why);
  if (token.find("L2::cache_hint") != std::string_view::npos || token.find("L2::evict") != std::string_view::npos) {
    return fmt::format("{} {}", token, k_cache_wish);
  }
  return std::nullopt;
}

/// A function or variable of someone else, but dynamic shared memory.
std::optional<std::string> refused_import(const PtxStatement& statement) {
  if (!has_token(statement, ".extern") || has_token(statement, ".shared")) return std::nullopt;
  const auto name = std::ranges::find_if(
      statement, [](std::string_view token) { return is_ptx_name(token) && !token.starts_with("func_retval"); });
  return fmt::format(
      "it uses {} of the driver: printf, malloc, assert and launches from the device outlast the launch; leave them "
      "out",
      name == statement.end() ? "a function" : *name);
}

/// What the statement declares in memory of the module; none of shared memory.
PtxNames module_variables(const PtxStatement& statement) {
  PtxNames names;
  const bool memory = has_token(statement, ".global") || has_token(statement, ".const");
  if (!statement.front().starts_with('.') || !memory) return names;
  for (const std::string_view token : statement) {
    if (token == "=") break;
    if (is_ptx_name(token)) names.insert(token);
  }
  return names;
}

/// Follows the addresses of the module's variables through one function, whatever way control takes.
class AddressFlow {
 public:
  explicit AddressFlow(const PtxNames& variables) : variables_(variables) {}

  void begin_function() { holders_.clear(); }
  /// Until nothing changes: a loop carries an address back.
  bool spread(const PtxStatement& statement) {
    const std::size_t opcode = opcode_at(statement);
    if (opcode + 1 >= statement.size() || !carries(statement[opcode]) || !touched(statement, opcode + 2)) return false;
    return holders_.insert(statement[opcode + 1]).second;
  }
  /// The variable, or the register with its address, of which the statement does something else than loading.
  [[nodiscard]] std::optional<std::string_view> misused(const PtxStatement& statement) const {
    const std::size_t opcode = opcode_at(statement);
    if (opcode >= statement.size() || statement.front().starts_with('.')) return std::nullopt;
    if (carries(statement[opcode]) || loads(statement[opcode])) return std::nullopt;
    return touched(statement, opcode + 1);
  }

 private:
  /// Behind "@%p1" or "@!%p1".
  static std::size_t opcode_at(const PtxStatement& statement) {
    if (statement.front() != "@") return 0;
    return statement.size() > 1 && statement[1] == "!" ? 3 : 2;
  }
  static bool carries(std::string_view opcode) {
    return is_listed(std::to_array<std::string_view>({"mov", "cvta", "add", "sub", "selp"}), before_dot(opcode));
  }
  static bool loads(std::string_view opcode) {
    return is_listed(std::to_array<std::string_view>({"ld", "ldu"}), before_dot(opcode));
  }
  [[nodiscard]] std::optional<std::string_view> touched(const PtxStatement& statement, std::size_t from) const {
    for (std::size_t i = from; i < statement.size(); ++i) {
      if (variables_.contains(statement[i]) || holders_.contains(statement[i])) return statement[i];
    }
    return std::nullopt;
  }

  const PtxNames& variables_;
  PtxNames holders_;  ///< registers of the function that may hold an address
};

std::string may_be_written(std::string_view variable) {
  return fmt::format(
      "it has memory of its own that a launch could leave something in ({}): ask for scratch in the bundle's header; a "
      "table is __constant__, and nothing but loads may reach it",
      variable);
}

/// Statements from one function's head to the next.
std::optional<std::string> refused_in_function(std::span<const PtxStatement> function, AddressFlow& flow) {
  flow.begin_function();
  for (bool changed = true; changed;) {
    changed = false;
    for (const PtxStatement& statement : function) changed = flow.spread(statement) || changed;
  }
  for (const PtxStatement& statement : function) {
    if (const auto what = flow.misused(statement)) return may_be_written(*what);
  }
  return std::nullopt;
}

/// Memory of the module is a table, or it is refused.
std::optional<std::string> refused_memory(const std::vector<PtxStatement>& statements) {
  PtxNames variables;
  for (const PtxStatement& statement : statements) variables.merge(module_variables(statement));
  for (const PtxStatement& statement : statements) {
    const auto initial = std::ranges::find(statement, "=");
    const auto address = std::find_if(initial, statement.end(), [&](auto token) { return variables.contains(token); });
    if (statement.front().starts_with('.') && address != statement.end()) return may_be_written(*address);
  }
  AddressFlow flow(variables);
  const auto begins = [](const PtxStatement& one) { return has_token(one, ".entry") || has_token(one, ".func"); };
  for (auto begin = statements.begin(); begin != statements.end();) {
    const auto end = std::find_if(begin + 1, statements.end(), begins);
    if (auto refused = refused_in_function({begin, end}, flow)) return refused;
    begin = end;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> forbidden_in_ptx(std::string_view ptx) {
  const PtxText text = read_ptx(ptx);
  if (text.unclear) return fmt::format("its assembly has {}, which can be read in two ways", *text.unclear);
  PtxNames declared;
  for (const PtxStatement& statement : text.statements) add_registers(statement, declared);
  for (const PtxStatement& statement : text.statements) {
    if (auto refused = refused_import(statement)) return refused;
    for (const std::string_view token : statement) {
      if (auto refused = refused_word(token)) return refused;
      if (auto refused = refused_register(token, declared)) return refused;
    }
  }
  return refused_memory(text.statements);
}

}  // namespace kw::cuda
