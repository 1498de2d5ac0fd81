#pragma once
// A Bundle is the unit that is proposed, archived and exported: one text file, a TOML header in a comment and plain
// device source below it. Nothing else: no host code, no buffers, no streams, no timing.
//
//   /*kernelwright
//   format = 1
//   target = "opencl"
//   problem = "attention/alibi"
//   generator = "vector 1"                  # who wrote it; free text
//
//   [tunables]                              # passed to the compiler as -DNAME=VALUE
//   BM = {values = [2, 4, 6], default = 4}
//   BN = {values = [128, 256], default = 256}
//
//   [defines]                               # more definitions, from axes: a new value means a new build
//   HEAD_DIM = "D"
//
//   constraints = ["BM * BN <= 2048"]       # top-level key: written before the first table
//
//   [scratch]                               # buffers the harness allocates, poisons and guards
//   kt = {dtype = "f32", elements = "B * Hkv * D * round_up(Skv, 32)"}
//
//   [[launch]]                              # run in order
//   kernel = "attention"
//   grid = ["ceil_div(Sq, BM)", "Hq", "B"]  # work-groups; 1 to 3 entries
//   block = ["1", "1", "1"]                 # work-items per group
//   shared_bytes = "0"                      # local memory, passed where an argument says "shared"
//   args = ["Q", "kt", "O", "Sq"]           # tensors and scratch by name; anything else is an expression passed as int
//   repeat = "steps"                        # so often in a row; "repetition" in its expressions counts them from 0
//
//   [[dispatch]]                            # the first row that fits device and shape assigns tunables (dispatch.hpp)
//   device = "h200"                         # a device, an architecture or a generation; left out: any
//   when = ["Skv >= 4096"]                  # expressions of axes and device facts that are all non-zero; left out: any
//   tunables = {BM = 6}                     # the others keep their defaults
//   */
//   __kernel void attention(...) { ... }
//
// Keys that are TOML integers or strings are both accepted where an expression is expected. Unknown keys are refused.
// May be left out: problem, generator, deterministic (true), constraints, tunables, defines, scratch, shared_bytes (0),
// repeat (1), dispatch, and a tunable's default (its first value). Names are C identifiers, each used once in the whole
// header. Read from untrusted bytes: the text is UTF-8 of at most 4 MiB, with at most 4096 launches, 4096 scratch
// buffers, 32 tunables of 64 values, 32 defines, 32 constraints, 64 arguments per launch, 64 rows of 16 conditions.
// `to_text` of what `parse_bundle` gave parses to the same Bundle.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "tensor/int_expr.hpp"
#include "tensor/tensor.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode bundle_no_header{"bundle.no_header"};
inline constexpr ErrorCode bundle_syntax{"bundle.syntax"};
inline constexpr ErrorCode bundle_unknown_key{"bundle.unknown_key"};
inline constexpr ErrorCode bundle_missing_key{"bundle.missing_key"};
inline constexpr ErrorCode bundle_value{"bundle.value"};
inline constexpr ErrorCode bundle_version{"bundle.version"};
inline constexpr ErrorCode bundle_too_large{"bundle.too_large"};
inline constexpr ErrorCode candidate_tunable{"candidate.tunable"};        ///< unknown tunable or value not allowed
inline constexpr ErrorCode candidate_constraint{"candidate.constraint"};  ///< names the constraint that failed
}  // namespace errc

/// A named integer with its allowed values, in the order the author gave; the default is one of them.
struct Tunable {
  std::string name;
  std::vector<std::int64_t> values;
  std::int64_t default_value = 0;
  friend bool operator==(const Tunable&, const Tunable&) = default;
};

struct Definition {
  std::string name;
  std::string expression;
  friend bool operator==(const Definition&, const Definition&) = default;
};

struct ScratchBuffer {
  std::string name;
  DType dtype = DType::f32;
  std::string elements;  ///< expression
  friend bool operator==(const ScratchBuffer&, const ScratchBuffer&) = default;
};

struct Launch {
  std::string kernel;
  std::vector<std::string> grid;   ///< 1 to 3 expressions
  std::vector<std::string> block;  ///< as many as grid
  std::string shared_bytes = "0";
  std::vector<std::string> args;
  /// An expression: how often it is launched in a row. With it, the others know k_repetition, which counts from 0.
  std::optional<std::string> repeat = std::nullopt;
  friend bool operator==(const Launch&, const Launch&) = default;
};

/// A row of the dispatch table: what tunables are where it fits. An empty device fits any, no conditions fit any shape.
struct DispatchRow {
  std::string device;             ///< as names_device (hardware/device_match.hpp) takes it
  std::vector<std::string> when;  ///< expressions
  IntBindings tunables;
  friend bool operator==(const DispatchRow&, const DispatchRow&) = default;
};

struct Bundle {
  std::string target;     ///< "opencl"
  std::string problem;    ///< name; informational, the verifier binds to the problem it was given
  std::string generator;  ///< provenance, free text
  bool deterministic =
      true;  ///< false: two runs may differ in the last bits, and the verifier then compares within the tolerance
  std::vector<Tunable> tunables;
  std::vector<std::string> constraints;  ///< expressions that must be non-zero
  std::vector<Definition> defines;
  std::vector<ScratchBuffer> scratch;
  std::vector<Launch> launches;
  std::vector<DispatchRow> dispatch;  ///< the first row that fits is taken
  std::string source;                 ///< everything below the header
  friend bool operator==(const Bundle&, const Bundle&) = default;
  [[nodiscard]] std::string to_text() const;
  [[nodiscard]] Hash id() const { return hash_bytes(to_text()); }
};

/// `file` only labels errors; lines count from the start of the file.
[[nodiscard]] Result<Bundle> parse_bundle(std::string_view text, const std::string& file);

/// Whether `value` is one that the bundle's tunable `name` may have; errc::candidate_tunable names what it may be.
[[nodiscard]] Result<void> allowed_tunable(const Bundle& bundle, const std::string& name, std::int64_t value);

/// Who wrote a source: this program in this process, or anybody else, a model, a file, an archive.
enum class SourceOrigin : std::uint8_t { foreign, own };

/// A bundle with its tunables assigned.
struct Candidate {
  Bundle bundle;
  /// One entry per tunable of the bundle, but for those that are left to its dispatch table: they may differ from one
  /// workload to the next, and resolve_tunables (dispatch.hpp) tells them. What is assigned here wins over every row.
  IntBindings tunables;
  /// Of the bundle's source. Not recorded: what is read back is foreign.
  SourceOrigin origin = SourceOrigin::foreign;
  /// Identity of what would be compiled and launched on a device: bundle text and assignment.
  [[nodiscard]] Hash id() const;
};

/// Assigns `overrides`, and defaults to what no row names; refuses unknown names, values that are not allowed, also in
/// rows, and broken constraints. A constraint that also names an axis, a device fact or a tunable that is left to the
/// rows waits for plan_launches, which knows them.
[[nodiscard]] Result<Candidate> make_candidate(Bundle bundle, const IntBindings& overrides = {},
                                               SourceOrigin origin = SourceOrigin::foreign);

}  // namespace kw
