#pragma once
// What can be proved about a mod without evaluating it everywhere. Codegen hoists and specialises by these facts, the
// verifier sizes its work by them, `explain` shows them.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "mod/expression/capture_data.hpp"
#include "mod/expression/expr.hpp"
#include "tensor/tensor.hpp"

namespace kw {

/// Which inputs a node depends on.
struct Dependencies {
  bool score = false;
  bool batch = false;
  bool head = false;
  bool query = false;
  bool key = false;
  [[nodiscard]] bool constant() const { return !score && !batch && !head && !query && !key; }
};
/// One entry per node of the mod.
[[nodiscard]] std::vector<Dependencies> dependencies(const ModFunction& mod);

/// The range of index values a tile covers, both ends inclusive.
struct IndexRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
struct TileRange {
  IndexRange batch, head, query, key;
};

class CaptureBounds;  // mod/analysis/capture_bounds.hpp

enum class TileClass : std::uint8_t { empty, partial, full };
/// Classifies a tile of a mask by interval arithmetic: `empty` and `full` are proofs, `partial` means "could be
/// either".
/// With `bounds` the captured tensors' values count, without only what is declared of them.
[[nodiscard]] TileClass classify_tile(const ModFunction& mask, const Axes& axes, const TileRange& tile,
                                      const CaptureBounds* bounds = nullptr);

/// Score mods of the form c1 * score + (a term that does not depend on the score): the scale c1 and the additive term
/// may then be folded with log2(e) into one fused multiply-add per score.
struct AffineInScore {
  ExprId multiplier = -1;  ///< node not depending on score; -1 means exactly 1
  ExprId offset = -1;      ///< node not depending on score; -1 means exactly 0
};
/// May append the nodes it needs ("(score + x) * c" has no node for x * c); ids refer to the mod after the call.
[[nodiscard]] std::optional<AffineInScore> affine_in_score(ModFunction& score_mod);
/// Only forms whose parts are nodes already.
[[nodiscard]] std::optional<AffineInScore> affine_in_score(const ModFunction& score_mod);

/// For a node linear in the key index: value = slope * key + intercept, both independent of key (ALiBi, relative
/// position). Codegen turns this into one vector multiply-add per score. Node ids refer to `mod` after the call, which
/// appends the nodes it needs.
struct LinearInIndex {
  ExprId slope = -1;
  ExprId intercept = -1;
};
[[nodiscard]] std::optional<LinearInIndex> linear_in_key(ModFunction& mod, ExprId node);

/// For a node that is slope * (query - key) + intercept, neither depending on query or key: it sees nothing of a
/// position but the distance. Appends nodes as linear_in_key does.
struct LinearInDistance {
  ExprId slope = -1;
  ExprId intercept = -1;
};
[[nodiscard]] std::optional<LinearInDistance> linear_in_distance(ModFunction& mod, ExprId node);

/// Keys a row may attend to, when the mask provably allows exactly the keys in [first, last] of each row
/// (causal, sliding window, prefix): node ids of integer expressions in b, h, q.
struct RowInterval {
  std::vector<ExprId> first;  ///< the row's first key is the maximum of these and 0
  std::vector<ExprId> last;   ///< the row's last key is the minimum of these and Skv - 1
};
[[nodiscard]] std::optional<RowInterval> row_interval(ModFunction& mask);

/// Evaluates a node in double precision; the reference semantics of every ExprOp.
struct ModPoint {
  double score = 0.0;
  std::int64_t batch = 0, head = 0, query = 0, key = 0;
};
/// `captures` holds at least the tensors the mod reads.
[[nodiscard]] double evaluate(const ModFunction& mod, const Axes& axes, const ModPoint& point,
                              const CaptureData& captures = no_captures());

}  // namespace kw
