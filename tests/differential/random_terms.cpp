#include "tests/differential/random_terms.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace kw {
namespace {

using Type = Term::Type;

/// A way to make a term: text with holes, and the types that fill them.
struct Rule {
  const char* text;
  std::vector<Type> children;
};

// NOLINTBEGIN(readability-identifier-naming): one letter a type is what keeps the tables readable
constexpr auto I = Type::integer;
constexpr auto B = Type::boolean;
constexpr auto R = Type::real;
constexpr auto S = Type::score;
// NOLINTEND(readability-identifier-naming)

constexpr const char* k_scaled = "({} * 0.75)";
constexpr const char* k_negated = "(-{})";

const std::vector<Rule>& leaf_integers() {
  static const std::vector<Rule> k_rules = {{"b", {}},
                                            {"h", {}},
                                            {"q", {}},
                                            {"k", {}},
                                            {"q", {}},
                                            {"k", {}},
                                            {"Sq", {}},
                                            {"Skv", {}},
                                            {"3", {}},
                                            {"1", {}},
                                            {"7", {}},
                                            {"16", {}},
                                            {"-5", {}},
                                            {"0x2f", {}},
                                            {"(q - k)", {}},
                                            {"Hq", {}},
                                            {"doc[k]", {}},
                                            {"doc[q]", {}},
                                            {"offs[doc[k]]", {}},
                                            {"t1[b]", {}},
                                            {"head", {}}};
  return k_rules;
}

const std::vector<Rule>& leaf_booleans() {
  static const std::vector<Rule> k_rules = {{"(q >= k)", {}},     {"_pad[b, k]", {}},         {"_pad[b][k]", {}},
                                            {"(k < t1[b])", {}},  {"(doc[q] == doc[k])", {}}, {"(abs(q - k) <= 9)", {}},
                                            {"(k <= q + 5)", {}}, {"(q - k < 12)", {}},       {"(h == 0)", {}},
                                            {"H1[q, k]", {}},     {"(k < head)", {}},         {"(doc[k] >= 1)", {}}};
  return k_rules;
}

const std::vector<Rule>& leaf_reals() {
  static const std::vector<Rule> k_rules = {
      {"0.5", {}},        {"-1.25", {}},     {"slope[h]", {}}, {"table[k]", {}}, {"table[q - k + 20]", {}},
      {"bias[h, k]", {}}, {"bias[h][q]", {}}};
  return k_rules;
}

const std::vector<Rule>& leaf_scores() {
  static const std::vector<Rule> k_rules = {{"s", {}}};
  return k_rules;
}

const std::vector<Rule>& leaves(Type type) {
  switch (type) {
    case I:
      return leaf_integers();
    case B:
      return leaf_booleans();
    case R:
      return leaf_reals();
    case S:
      break;
  }
  return leaf_scores();
}

const std::vector<Rule>& rule_integers() {
  static const std::vector<Rule> k_rules = {{"({} + {})", {I, I}},
                                            {"({} - {})", {I, I}},
                                            {"({} * 3)", {I}},
                                            {"({} // 4)", {I}},
                                            {"({} // -3)", {I}},
                                            {"({} % 5)", {I}},
                                            {"({} % -7)", {I}},
                                            {"({} // {})", {I, I}},
                                            {"({} % {})", {I, I}},
                                            {"torch.fmod({}, 5)", {I}},
                                            {"torch.fmod({}, {})", {I, I}},
                                            {"torch.div({}, {}, rounding_mode=\"trunc\")", {I, I}},
                                            {"({} & {})", {I, I}},
                                            {"({} | {})", {I, I}},
                                            {"({} ^ {})", {I, I}},
                                            {"(~{})", {I}},
                                            {"(-{})", {I}},
                                            {"({} << 2)", {I}},
                                            {"({} >> 1)", {I}},
                                            {"abs({})", {I}},
                                            {"torch.clamp({}, min=-3, max=40)", {I}},
                                            {"torch.minimum({}, {})", {I, I}},
                                            {"torch.maximum({}, {})", {I, I}},
                                            {"torch.where({}, {}, {})", {B, I, I}},
                                            {"doc[{}]", {I}},
                                            {"{}.to(torch.int32)", {B}}};
  return k_rules;
}

const std::vector<Rule>& rule_booleans() {
  static const std::vector<Rule> k_rules = {{"({} < {})", {I, I}},
                                            {"({} <= {})", {I, I}},
                                            {"({} > {})", {I, I}},
                                            {"({} >= {})", {I, I}},
                                            {"({} == {})", {I, I}},
                                            {"({} != {})", {I, I}},
                                            {"({} & {})", {B, B}},
                                            {"({} | {})", {B, B}},
                                            {"({} | {})", {B, B}},
                                            {"({} ^ {})", {B, B}},
                                            {"(~{})", {B}},
                                            {"torch.logical_and({}, {})", {B, B}},
                                            {"torch.logical_or({}, {})", {B, B}},
                                            {"_pad[b, {}]", {I}},
                                            {"torch.where({}, {}, {})", {B, B, B}}};
  return k_rules;
}

const std::vector<Rule>& rule_reals() {
  static const std::vector<Rule> k_rules = {{"({} + {})", {R, R}},
                                            {"({} - {})", {R, R}},
                                            {"torch.clamp({} * {}, -6.0, 6.0)", {R, R}},
                                            {"torch.clamp({} * 0.125, -6.0, 6.0)", {I}},
                                            {"torch.tanh({})", {R}},
                                            {"torch.sigmoid({})", {R}},
                                            {"torch.exp2(-torch.abs({} % 8).float())", {I}},
                                            {"torch.sqrt(torch.abs({}) + 0.25)", {R}},
                                            {"torch.where({}, {}, {})", {B, R, R}},
                                            {"table[{}]", {I}},
                                            {"bias[h, {}]", {I}},
                                            {"F.gelu({})", {R}},
                                            {"torch.sin({})", {R}},
                                            {"torch.cos({})", {R}},
                                            {"torch.round(({} % 64 - 32) * 0.5)", {I}},
                                            {"torch.fmod(({} % 64 - 32) * 0.25, 3.0)", {I}},
                                            {"torch.fmod(({} % 64 - 32) * 0.25, ({} % 5 - 2) * 0.5 + 0.25)", {I, I}},
                                            {"(-{})", {R}}};
  return k_rules;
}

const std::vector<Rule>& rule_scores() {
  static const std::vector<Rule> k_rules = {{"({} + {})", {S, R}},
                                            {"({} + {})", {S, R}},
                                            {"({} - {})", {S, R}},
                                            {k_scaled, {S}},
                                            {"({} * slope[h])", {S}},
                                            {"(8.0 * torch.tanh({} / 8.0))", {S}},
                                            {"torch.where({}, {}, {})", {B, S, S}},
                                            {"torch.where({}, {}, float('-inf'))", {B, S}},
                                            {"torch.where({}, {}, -1e9)", {B, S}},
                                            {"torch.where({}, {}, torch.finfo(torch.float32).min)", {B, S}},
                                            {"({} + torch.where({}, 0.0, -1e30))", {S, B}},
                                            {"({} + hidden[b, k])", {S}},
                                            {"torch.clamp({}, -4.0, 4.0)", {S}},
                                            {"torch.maximum({}, {})", {S, R}},
                                            {"torch.relu({})", {S}},
                                            {k_negated, {S}}};
  return k_rules;
}

const std::vector<Rule>& rules(Type type) {
  switch (type) {
    case I:
      return rule_integers();
    case B:
      return rule_booleans();
    case R:
      return rule_reals();
    case S:
      break;
  }
  return rule_scores();
}

const Rule& pick(const std::vector<Rule>& from, Rng& rng) {
  return from[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(from.size())))];
}

/// Whether a masking value is added anywhere in it.
bool adds_masking_value(const Term& term) {
  const std::string_view text = term.text;
  return text.find("1e30") != text.npos || text.find("hidden") != text.npos ||
         std::any_of(term.children.begin(), term.children.end(), adds_masking_value);
}

Term random_term(Type type, int depth, Rng& rng);

/// Children of at most this depth.
Term filled(Type type, const Rule& rule, int depth, Rng& rng) {
  Term term{type, rule.text, {}};
  for (const auto child : rule.children) term.children.push_back(random_term(child, depth, rng));
  const bool negates = type == S && term.text == k_negated;
  if (negates && adds_masking_value(term.children.front())) term.text = k_scaled;
  return term;
}

Term random_term(Type type, int depth, Rng& rng) {
  const bool leaf = depth <= 0 || rng.below(4) == 0;
  const auto& rule = pick(leaf ? leaves(type) : rules(type), rng);
  return filled(type, rule, depth - 1, rng);
}

}  // namespace

Term random_score_mod(Rng& rng) {
  // Never the bare score: that is the case without a mod.
  const auto& rule = pick(rules(S), rng);
  return filled(S, rule, 2, rng);
}

Term random_mask(Rng& rng) {
  return random_term(B, 3, rng);
}

/// Some are called as kernels call things of their own.
const std::vector<RandomCapture>& random_captures() {
  static const std::vector<RandomCapture> all = {
      {"offs", "dtype = \"i32\"\naxes = [\"S\"]\ngenerator = \"offsets\"\ntotal = \"Skv\"\nleast = 0\n"},
      {"doc", "dtype = \"i32\"\naxes = [\"Skv\"]\nsorted = true\ngenerator = \"documents\"\nfrom = \"offs\"\n"},
      {"t1", "dtype = \"i32\"\naxes = [\"B\"]\ngenerator = \"integers\"\nlow = 0\nhigh = \"Skv\"\n"},
      {"head", "dtype = \"i32\"\naxes = []\ngenerator = \"integers\"\nlow = 1\nhigh = \"Skv\"\n"},
      {"_pad", "dtype = \"bool\"\naxes = [\"B\", \"Skv\"]\ngenerator = \"coin\"\nprobability = 0.7\n"},
      {"H1", "dtype = \"bool\"\naxes = [\"Sq\", \"Skv\"]\ngenerator = \"coin\"\nprobability = 0.5\n"},
      {"hidden",
       "dtype = \"f32\"\naxes = [\"B\", \"Skv\"]\n"
       "formula = \"lambda b, k: torch.where((b + 3 * k) % 5 < 2, -1e30, 0.0)\"\n"},
      {"slope", "dtype = \"f32\"\naxes = [\"Hq\"]\ngenerator = \"uniform\"\nlow = 0.25\nhigh = 1.0\n"},
      {"table", "dtype = \"f32\"\naxes = [\"float4\"]\ngenerator = \"normal\"\nscale = 1.0\n"},
      {"bias", "dtype = \"bf16\"\naxes = [\"Hq\", \"float4\"]\ngenerator = \"normal\"\nscale = 1.0\n"}};
  return all;
}

}  // namespace kw
