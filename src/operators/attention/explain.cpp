#include "operators/attention/explain.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mod/analysis/analysis.hpp"
#include "mod/expression/text.hpp"
#include "operators/attention/attention.hpp"
#include "problem/file/problem_reader.hpp"

namespace kw {
namespace {

constexpr std::size_t k_one_line = 60;
constexpr std::pair<std::int64_t, std::int64_t> k_tile_sizes[] = {{16, 64}, {64, 64}, {128, 128}, {16, 512}};

TermRate rate_of(const Dependencies& on) {
  if (on.score || (on.query && on.key)) return TermRate::per_score;
  if (on.key) return TermRate::per_column;
  if (on.query) return TermRate::per_row;
  return on.batch || on.head ? TermRate::per_head : TermRate::once;
}

void count_work(ExprOp op, ScoreWork& work) {
  switch (op_class(op)) {
    case OpClass::leaf:
      return;
    case OpClass::arithmetic:
      ++work.arithmetic;
      return;
    case OpClass::division:
      ++work.divisions;
      return;
    case OpClass::transcendental:
      ++work.transcendental;
      return;
    case OpClass::gather:
      ++work.gathers;
      return;
  }
}

/// Work per score, and the largest subexpressions that are not.
void split_by_rate(const ModFunction& mod, ModExplanation& explanation) {
  std::vector<TermRate> rates;
  for (const auto& on : dependencies(mod)) rates.push_back(rate_of(on));
  std::vector<bool> listed(mod.nodes.size(), false);
  const auto list = [&](ExprId id) {
    const auto at = static_cast<std::size_t>(id);
    if (listed[at] || op_class(mod.nodes[at].op) == OpClass::leaf) return;
    listed[at] = true;
    explanation.hoisted.push_back({to_python(mod, id), rates[at]});
  };
  if (rates[static_cast<std::size_t>(mod.root)] != TermRate::per_score) list(mod.root);
  for (std::size_t i = 0; i < mod.nodes.size(); ++i) {
    if (rates[i] != TermRate::per_score) continue;
    count_work(mod.nodes[i].op, explanation.per_score);
    for (const auto arg : mod.nodes[i].args) {
      if (rates[static_cast<std::size_t>(arg)] != TermRate::per_score) list(arg);
    }
  }
}

/// Terms that are the same for every key of a row, and what is left of the others.
void explain_offset(ModFunction& mod, ExprId offset, std::vector<std::string>& proved) {
  const auto text = [&](ExprId id) { return to_python(mod, id); };
  const auto depends = dependencies(mod)[static_cast<std::size_t>(offset)];
  if (!depends.key) {
    proved.push_back(fmt::format(
        "the term {} is the same for every key of a row: softmax cancels it (the LSE keeps it)", text(offset)));
    return;
  }
  if (const auto distance = linear_in_distance(mod, offset)) {
    proved.push_back(
        fmt::format("the term depends on the distance alone: {} * (q_idx - kv_idx)", text(distance->slope)));
  }
  const auto linear = linear_in_key(mod, offset);
  if (!linear) return;
  proved.push_back(
      fmt::format("the term is linear in the key, with slope {}: one multiply-add per score", text(linear->slope)));
  const auto& rest = mod.nodes[static_cast<std::size_t>(linear->intercept)];
  const bool zero = rest.op == ExprOp::constant && rest.real == 0.0 && rest.integer == 0;
  if (!zero) {
    proved.push_back(
        fmt::format("its part {} is the same for every key of a row: softmax cancels it (the LSE keeps it)",
                    text(linear->intercept)));
  }
}

ModExplanation explain_score_mod(const ModFunction& original, const MaskedMods& apart,
                                 const std::optional<LosingTerm>& losing) {
  ModExplanation explanation{"score_mod", original.name, to_python(original, original.root, 200), {}, {}, {}};
  if (apart.taken_out) {
    explanation.proved.emplace_back(
        "it holds a mask, of scores that can only lose; rows of nothing else keep all of their keys");
    if (!apart.score_mod) explanation.proved.emplace_back("beside that it leaves the score as it is");
  }
  if (losing) {
    explanation.proved.push_back(
        fmt::format("keys may lose by {}: tiles are classified by its values, and those are skipped in which it is "
                    "-infinity or more "
                    "than {} below the largest of every row; rows of nothing else keep all of their keys",
                    to_python(losing->term, losing->term.root, 60), losing->distance));
  }
  if (!apart.score_mod) return explanation;
  split_by_rate(*apart.score_mod, explanation);
  auto mod = *apart.score_mod;
  const auto affine = affine_in_score(mod);
  if (!affine) {
    explanation.proved.emplace_back("not affine in the score: applied in natural units, then scaled by log2(e)");
    return explanation;
  }
  explanation.proved.push_back(
      affine->multiplier < 0
          ? std::string("affine in the score: score + term; scale and log2(e) are folded into one multiply-add")
          : fmt::format("affine in the score: score * {} + term; scale and log2(e) are folded into one multiply-add",
                        to_python(mod, affine->multiplier)));
  if (affine->offset >= 0) explain_offset(mod, affine->offset, explanation.proved);
  return explanation;
}

std::string source_of(const FixedValues&) {
  return "the problem file";
}
std::string source_of(const FormulaValues& formula) {
  return formula.formula.source;
}
std::string source_of(const GeneratedValues& generated) {
  std::string text = "generator " + generated.generator;
  for (const auto& [parameter, name] : generated.names) text += fmt::format(", {} {}", parameter, name);
  for (const auto& [parameter, number] : generated.numbers)
    text += fmt::format(", {} {}", parameter, to_python(number, number.root));
  return text;
}

std::string joined(const ModFunction& mod, const std::vector<ExprId>& ids, const char* function, std::string limit) {
  std::string text;
  for (const auto id : ids) text += to_python(mod, id) + ", ";
  return ids.empty() ? limit : fmt::format("{}({}{})", function, text, limit);
}

ModExplanation explain_mask(const ModFunction& original, const char* role) {
  ModExplanation explanation{role, original.name, to_python(original, original.root, 200), {}, {}, {}};
  split_by_rate(original, explanation);
  auto mask = original;
  if (const auto interval = row_interval(mask)) {
    const auto first = joined(mask, interval->first, "max", "0");
    const auto last = joined(mask, interval->last, "min", "Skv - 1");
    if (first.size() + last.size() < k_one_line) {
      explanation.proved.push_back(fmt::format("each row sees one interval of keys, from {} to {}", first, last));
    } else {
      explanation.proved.emplace_back("each row sees one interval of keys");
      explanation.proved.push_back("its first key is " + first);
      explanation.proved.push_back("its last key is " + last);
    }
  } else {
    explanation.proved.emplace_back("not proved to be one interval of keys per row: tiles are classified one by one");
  }
  const auto depends = dependencies(original)[static_cast<std::size_t>(original.root)];
  if (!depends.head && !depends.batch) {
    explanation.proved.emplace_back("the same for all batches and heads");
  } else if (!depends.head) {
    explanation.proved.emplace_back("the same for all heads");
  } else if (!depends.batch) {
    explanation.proved.emplace_back("the same for all batches");
  }
  return explanation;
}

CaptureRow explain_capture(const Capture& capture, const CapturedTensor& tensor) {
  const auto [low, high] = std::minmax_element(tensor.values.begin(), tensor.values.end());
  return {capture.declared.name,
          std::string(to_string(capture.declared.dtype)),
          fmt::format("[{}] = [{}]", fmt::join(capture.declared.axes, ", "), fmt::join(tensor.extents, ", ")),
          std::visit([](const auto& source) { return source_of(source); }, capture.source),
          *low,
          *high,
          capture.declared.sorted};
}

}  // namespace

std::string_view to_string(TermRate rate) {
  switch (rate) {
    case TermRate::once:
      return "once";
    case TermRate::per_head:
      return "per head";
    case TermRate::per_row:
      return "per row";
    case TermRate::per_column:
      return "per key";
    case TermRate::per_score:
      return "per score";
  }
  return "?";
}

Result<ProblemExplanation> analyse(const Problem& problem) {
  const auto* attention = attention_of(problem);
  const auto& axes = problem.primary().axes;
  KW_TRY(const auto data, draw_captures(problem.captures, axes, k_nominal_seed));
  ProblemExplanation explanation;
  explanation.attended = attended_pairs(problem, problem.primary());
  for (const auto& capture : problem.captures) {
    explanation.captures.push_back(explain_capture(capture, data.find(capture.declared.name)->second));
  }
  if (attention->score_mod)
    explanation.mods.push_back(explain_score_mod(*attention->score_mod, attention->apart, attention->losing));
  const auto& mask = attention->apart.mask_mod;
  if (!mask) return explanation;
  explanation.mods.push_back(explain_mask(*mask, attention->mask_mod ? "mask_mod" : "mask"));
  for (const auto& [queries, keys] : k_tile_sizes) {
    explanation.tiles.push_back({queries, keys, tile_shares(*mask, axes, data, queries, keys)});
  }
  return explanation;
}

}  // namespace kw
