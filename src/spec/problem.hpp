#pragma once
// What to compute. A Problem is read from a TOML file (format: docs/formats.md), checked completely, and then only
// read. It knows its tensors, so that the verifier, the worker and the loop need not know the operator.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/file_system.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "spec/captures.hpp"
#include "spec/mod_expr.hpp"
#include "spec/mod_parser.hpp"
#include "spec/tensor.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode problem_syntax{"problem.syntax"};            ///< not TOML
inline constexpr ErrorCode problem_unknown_key{"problem.unknown_key"};  ///< with the nearest known key as the hint
inline constexpr ErrorCode problem_missing_key{"problem.missing_key"};
inline constexpr ErrorCode problem_type{"problem.type"};    ///< a value of the wrong TOML type
inline constexpr ErrorCode problem_value{"problem.value"};  ///< a value out of its range
inline constexpr ErrorCode problem_unknown_op{"problem.unknown_op"};
inline constexpr ErrorCode problem_set{"problem.set"};  ///< a bad --set AXIS=VALUE
}  // namespace errc

/// Scaled dot-product attention with FlexAttention's mods.
/// O[b,h,q,:] = sum_k softmax_k(mod(scale * <Q[b,h,q,:], K[b,g,k,:]>)) V[b,g,k,:], g = h / (Hq / Hkv); a row whose keys
/// are all masked gives 0. Axes: B, Hq, Hkv, Sq, Skv, D, Dv; Hkv divides Hq. Arithmetic is f32 whatever the dtype.
struct AttentionSpec {
  DType dtype = DType::f32;  ///< of Q, K, V and O: f32, f16 or bf16
  /// Also asks for LSE[b,h,q] = log(sum_k exp(mod(...))), natural logarithm, f32; -inf for a row that is all masked.
  bool lse = false;
  std::optional<double> scale;  ///< absent: 1/sqrt(D)
  std::optional<ModFunction> score_mod;
  std::optional<ModFunction> mask_mod;
  [[nodiscard]] double scale_for(const Axes& axes) const;
};

/// Stored in archives: never renumber.
enum class WorkloadRole : std::uint8_t {
  primary = 1,   ///< the one that is optimised and timed
  edge = 2,      ///< small, awkward sizes; feedback may name them
  held_out = 3,  ///< only the verifier sees it; feedback never says its sizes
};
[[nodiscard]] std::string_view to_string(WorkloadRole role);

/// One binding of the problem's axes.
struct Workload {
  std::string name;
  WorkloadRole role = WorkloadRole::primary;
  Axes axes;
};

struct Problem {
  std::string name;         ///< "attention/alibi"
  std::string op;           ///< "attention"
  std::string description;  ///< one sentence
  std::map<std::string, std::variant<std::int64_t, double>, std::less<>> constants;
  std::vector<std::string> own_axes;  ///< beyond the operator's, in the order of the file: extents of captured tensors
  std::vector<Capture> captures;      ///< in the order of the file: a formula may read the ones before it
  std::vector<Workload> workloads;    ///< the first is the primary; at least one more follows
  std::vector<TensorSpec> inputs;     ///< the operator's, then the captured tensors
  std::vector<TensorSpec> outputs;
  std::variant<AttentionSpec> detail;

  [[nodiscard]] const Workload& primary() const { return workloads.front(); }
  /// Inputs that are not captured: drawn from a distribution.
  [[nodiscard]] std::size_t operand_count() const { return inputs.size() - captures.size(); }
  [[nodiscard]] const AttentionSpec* attention() const { return std::get_if<AttentionSpec>(&detail); }
  /// The Python text of the mods as the user wrote it, each under its role's name; "" when there are none.
  [[nodiscard]] std::string mod_text() const;
  /// A normal form: two files that mean the same give the same text. The hash of it identifies the problem.
  [[nodiscard]] std::string canonical_text() const;
  [[nodiscard]] Hash id() const { return hash_bytes(canonical_text()); }
};

/// `file` labels errors. With `files`, .npy files are looked for in its folder; without, a problem that needs one is
/// refused.
[[nodiscard]] Result<Problem> parse_problem(std::string_view toml_text, const std::string& file,
                                            const FileSystem* files = nullptr);

/// A path to a .toml file, or a name such as "attention/alibi" that is looked up in `search` directories in order.
/// Not found: errc::not_found, with the nearest names as the hint.
[[nodiscard]] Result<Problem> load_problem(const std::string& path_or_name, const FileSystem& files,
                                           const std::vector<std::filesystem::path>& search);

/// "Sq=4096": overrides axes of the primary workload, all of them before any is checked, so that their order is free;
/// unknown axes, non-numbers and inconsistent heads are refused.
[[nodiscard]] Result<Problem> with_axes(Problem problem, const std::vector<std::string>& assignments);

/// Work that cannot be avoided, for FLOP rates and the roofline.
struct WorkloadCost {
  double flops = 0;         ///< multiply-adds count 2; only attended (query, key) pairs count
  double bytes = 0;         ///< every input read once, every output written once
  double mask_density = 1;  ///< attended share of all (query, key) pairs
  /// False when estimated from evenly spaced rows because the shape is large, or when the captured tensors cannot be
  /// drawn for it.
  bool density_exact = true;
};
/// With captured tensors, for their nominal draw.
[[nodiscard]] WorkloadCost cost(const Problem& problem, const Workload& workload);

}  // namespace kw
