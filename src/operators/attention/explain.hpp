#pragma once
// What the analyses prove about an attention problem, as sentences and numbers: the content of `kernelwright explain`.

#include <cstdint>
#include <string>
#include <vector>

#include "mod/analysis/tile_shares.hpp"
#include "operators/attention/cost.hpp"
#include "problem/explanation.hpp"
#include "problem/problem.hpp"

namespace kw {

/// How often a value has to be computed.
enum class TermRate : std::uint8_t {
  once,        ///< depends on axes alone
  per_head,    ///< on batch or head
  per_row,     ///< also on the query
  per_column,  ///< on the key, but neither on the query nor on the score
  per_score,
};
[[nodiscard]] std::string_view to_string(TermRate rate);

/// A largest subexpression that need not be computed for every score.
struct HoistedTerm {
  std::string text;  ///< as Python
  TermRate rate = TermRate::once;
};

/// Operations of a mod that are left for every score once terms are hoisted.
struct ScoreWork {
  int arithmetic = 0;      ///< add, multiply, compare, select, bits
  int divisions = 0;       ///< divisions and remainders
  int transcendental = 0;  ///< exp, tanh, sqrt and so on
  int gathers = 0;
};

struct ModExplanation {
  std::string role;  ///< "score_mod", "mask_mod", or "mask" for one that the score_mod holds
  std::string name;
  std::string text;                 ///< the traced expression as Python
  std::vector<std::string> proved;  ///< sentences
  std::vector<HoistedTerm> hoisted;
  ScoreWork per_score;
};

struct TileRow {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  TileShares shares;
};

struct CaptureRow {
  std::string name;
  std::string type;
  std::string shape;   ///< "[B, Skv] = [2, 512]"
  std::string values;  ///< where they come from
  double low = 0;      ///< of the nominal draw
  double high = 0;
  bool sorted = false;
};

struct ProblemExplanation {
  std::vector<ModExplanation> mods;
  std::vector<TileRow> tiles;  ///< of the primary workload; empty when there is no mask
  std::vector<CaptureRow> captures;
  AttendedPairs attended;  ///< of the primary workload
};

/// On the nominal draw of the captured tensors. Errors: as draw_captures.
[[nodiscard]] Result<ProblemExplanation> analyse(const Problem& problem);
/// The same in the form that every operator has.
[[nodiscard]] Result<Explanation> explain_attention(const Problem& problem);

}  // namespace kw
