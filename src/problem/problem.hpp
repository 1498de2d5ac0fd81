#pragma once
// What to compute. A Problem is read from a TOML file (format: docs/formats.md), checked completely, and then only
// read. It knows its tensors, so that the verifier, the worker and the loop need not know the operator.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/file_system.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "mod/expression/expr.hpp"
#include "mod/frontend/parser.hpp"
#include "problem/captures/captures.hpp"
#include "problem/errors.hpp"
#include "problem/source.hpp"
#include "tensor/tensor.hpp"

namespace kw {

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

/// What only the operator knows of a problem. Its folder derives from this and reads it back.
struct OperatorDetail {
  OperatorDetail() = default;
  OperatorDetail(const OperatorDetail&) = default;
  OperatorDetail(OperatorDetail&&) = default;
  OperatorDetail& operator=(const OperatorDetail&) = default;
  OperatorDetail& operator=(OperatorDetail&&) = default;
  virtual ~OperatorDetail() = default;
};

/// An axis whose extent follows from others, such as that of a strided output. Every workload has it, and nobody sets
/// it.
struct DerivedAxis {
  std::string name;
  std::string extent;  ///< an integer expression (tensor/int_expr.hpp) over axes that are not derived
};

/// A function that the user gave an operator.
struct UserFunction {
  std::string_view role;  ///< "score_mod"
  const ModFunction* function = nullptr;
};

struct Problem {
  std::string name;         ///< "attention/alibi"
  std::string op;           ///< "attention"
  std::string description;  ///< one sentence
  std::map<std::string, std::variant<std::int64_t, double>, std::less<>> constants;
  std::vector<std::string> own_axes;  ///< beyond the operator's, in the order of the file: extents of captured tensors
  std::vector<DerivedAxis> derived_axes;
  std::vector<Capture> captures;    ///< in the order of the file: a formula may read the ones before it
  std::vector<Workload> workloads;  ///< the first is the primary; at least one more follows
  std::vector<TensorSpec> inputs;   ///< the operator's, then the captured tensors
  std::vector<TensorSpec> outputs;
  std::shared_ptr<const OperatorDetail> detail;  ///< shared by copies, which never change it
  std::optional<ProblemSource> source;           ///< what it was read from; absent for one that was made by hand

  [[nodiscard]] const Workload& primary() const { return workloads.front(); }
  /// Inputs that are not captured: drawn from a distribution.
  [[nodiscard]] std::size_t operand_count() const { return inputs.size() - captures.size(); }
  /// The Python text of the user's functions as written, each under its role's name; "" when there are none.
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
/// unknown and derived axes, non-numbers and axes that do not fit each other are refused.
[[nodiscard]] Result<Problem> with_axes(Problem problem, const std::vector<std::string>& assignments);

/// Work that cannot be avoided, for FLOP rates and the roofline.
struct WorkloadCost {
  double flops;  ///< multiply-adds count 2; only what has to be computed counts, such as attended pairs
  double bytes;  ///< every input read once, every output written once
  double steps;  ///< of an obvious evaluation, as the oracle's: what limits of slow devices count; at least `flops`
};
/// With captured tensors, for their nominal draw.
[[nodiscard]] WorkloadCost cost(const Problem& problem, const Workload& workload);

}  // namespace kw
