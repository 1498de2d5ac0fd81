#include "tests/differential/random_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "tests/differential/random_terms.hpp"

namespace kw {
namespace {

/// Captures whose names occur in the mods, and what those are derived from.
std::vector<RandomCapture> needed_captures(const std::string& mods) {
  std::vector<RandomCapture> needed;
  const auto used = [&](const std::string& name) {
    return mods.find(name + "[") != std::string::npos || (name == "head" && mods.find(name) != std::string::npos);
  };
  for (const auto& capture : random_captures()) {
    const std::string name = capture.name;
    if (used(name) || (name == "offs" && used("doc"))) needed.push_back(capture);
  }
  return needed;
}

/// Extents of the captures' own axes that are needed; an axis nobody mentions would be refused.
std::string own_axes_text(const std::vector<RandomCapture>& captures, const RandomShape& shape) {
  const auto needs = [&](const char* axis) {
    return std::any_of(captures.begin(), captures.end(), [&](const RandomCapture& capture) {
      return std::string(capture.declaration).find(fmt::format("\"{}\"", axis)) != std::string::npos;
    });
  };
  std::string text;
  if (needs("S")) text += fmt::format("S = {}\n", std::min<std::int64_t>(5, shape.Skv + 1));
  if (needs("float4")) text += "float4 = 40\n";
  return text;
}

std::string axes_text(const RandomAttention& program, const RandomShape& shape,
                      const std::vector<RandomCapture>& captures) {
  const auto text = fmt::format("B = {}\nHkv = {}\nHq = {}\nSq = {}\nSkv = {}\n", shape.B, shape.Hkv,
                                shape.Hkv * shape.group, shape.Sq, shape.Skv);
  return text + own_axes_text(captures, shape) + fmt::format("D = {}\nDv = {}\n", program.D, program.Dv);
}

std::int64_t one_of(Rng& rng, std::initializer_list<std::int64_t> values) {
  return *(values.begin() + rng.below(static_cast<std::int64_t>(values.size())));
}

RandomShape draw_shape(Rng& rng) {
  RandomShape shape;
  shape.B = 1 + rng.below(3);
  shape.Hkv = 1 + rng.below(2);
  shape.group = 1 + rng.below(3);
  shape.Sq = one_of(rng, {1, 1 + rng.below(12), 1 + rng.below(80)});
  shape.Skv = one_of(rng, {1, 16 + rng.below(4), 1 + rng.below(150), 1 + rng.below(150)});
  return shape;
}

/// Calls `use` with every variant of `term` in which one subterm is replaced by a simpler one.
void simpler_terms(const Term& term, const std::function<void(Term)>& use) {
  for (const auto& child : term.children) {
    if (child.type == term.type) use(child);
  }
  static const std::array<const char*, 4> k_least = {"True", "0", "0.5", "s"};
  const auto* least = k_least[static_cast<std::size_t>(term.type)];
  if (!term.children.empty() && term.type != Term::Type::boolean) use(Term{term.type, least, {}});
  if (!term.children.empty() && term.type == Term::Type::boolean) use(Term{term.type, "(q >= k)", {}});
  for (std::size_t i = 0; i < term.children.size(); ++i) {
    simpler_terms(term.children[i], [&](Term child) {
      auto copy = term;
      copy.children[i] = std::move(child);
      use(std::move(copy));
    });
  }
}

void fewer_shapes(const RandomAttention& program, std::vector<RandomAttention>& variants) {
  if (program.shapes.size() < 2) return;
  for (const auto& shape : program.shapes) {
    variants.push_back(program);
    variants.back().shapes = {shape};
  }
}

void smaller_extents(const RandomAttention& program, std::vector<RandomAttention>& variants) {
  if (program.shapes.size() > 1) return;
  using Extent = std::int64_t RandomShape::*;
  for (const Extent extent :
       {&RandomShape::B, &RandomShape::Hkv, &RandomShape::group, &RandomShape::Sq, &RandomShape::Skv}) {
    const auto value = program.shapes[0].*extent;
    for (const auto less : std::set<std::int64_t>{1, value / 2, value - 1}) {
      if (less < 1 || less >= value) continue;
      variants.push_back(program);
      variants.back().shapes[0].*extent = less;
    }
  }
  for (const auto extent : {&RandomAttention::D, &RandomAttention::Dv}) {
    for (const auto less : {std::int64_t{1}, program.*extent / 2}) {
      if (less < 1 || less >= program.*extent) continue;
      variants.push_back(program);
      variants.back().*extent = less;
    }
  }
}

}  // namespace

std::string render(const Term& term) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t i = 0; i < term.text.size(); ++i) {
    if (term.text.compare(i, 2, "{}") == 0) {
      text += render(term.children[next++]);
      ++i;
    } else {
      text += term.text[i];
    }
  }
  return text;
}

std::string RandomAttention::to_toml() const {
  std::string mods;
  if (!score_mod.empty()) mods += fmt::format("score_mod = '''\nlambda s, b, h, q, k: {}\n'''\n", render(score_mod[0]));
  if (!mask_mod.empty())
    mods += fmt::format("mask_mod = '''\ndef mask(b, h, q, k):\n    return {}\n'''\n", render(mask_mod[0]));
  const auto captures = needed_captures(mods);
  auto text = fmt::format("name = \"random/attention\"\nop = \"attention\"\n\n[axes]\n{}\n",
                          axes_text(*this, shapes[0], captures));
  for (const auto& capture : captures) text += fmt::format("[tensors.{}]\n{}\n", capture.name, capture.declaration);
  text += fmt::format("[attention]\ndtype = \"{}\"\n{}{}\n", dtype, lse ? "lse = true\n" : "", mods);
  for (std::size_t i = 0; i < std::max<std::size_t>(2, shapes.size()); ++i) {
    if (i == 0) continue;  // the primary
    const auto& shape = shapes[std::min(i, shapes.size() - 1)];
    text +=
        fmt::format("[[workload]]\nname = \"shape_{}\"\nrole = \"edge\"\n{}\n", i, axes_text(*this, shape, captures));
  }
  return text;
}

RandomAttention draw_attention(Rng& rng, int shapes) {
  RandomAttention program;
  constexpr const char* k_dtypes[] = {"f32", "f16", "bf16", "f32"};
  program.dtype = k_dtypes[rng.below(4)];
  program.lse = rng.below(3) == 0;
  program.D = one_of(rng, {1, 3, 8, 16, 17, 32, 33, 40, 64});
  program.Dv = rng.below(3) == 0 ? one_of(rng, {1, 5, 16, 24, 48, 64}) : program.D;
  if (rng.below(5) > 0) program.mask_mod.push_back(random_mask(rng));
  if (rng.below(3) > 0) program.score_mod.push_back(random_score_mod(rng));
  for (int i = 0; i < shapes; ++i) program.shapes.push_back(draw_shape(rng));
  program.style_seed = rng.next();
  program.data_seed = rng.next();
  return program;
}

std::vector<RandomAttention> smaller(const RandomAttention& program) {
  std::vector<RandomAttention> variants;
  fewer_shapes(program, variants);
  for (const auto mod : {&RandomAttention::score_mod, &RandomAttention::mask_mod}) {
    if ((program.*mod).empty()) continue;
    variants.push_back(program);
    (variants.back().*mod).clear();
    simpler_terms((program.*mod)[0], [&](Term term) {
      variants.push_back(program);
      (variants.back().*mod)[0] = std::move(term);
    });
  }
  if (program.lse) {
    variants.push_back(program);
    variants.back().lse = false;
  }
  if (program.dtype != "f32") {
    variants.push_back(program);
    variants.back().dtype = "f32";
  }
  smaller_extents(program, variants);
  for (const auto& entry : program.assignment) {
    variants.push_back(program);
    variants.back().assignment.erase(entry.first);
  }
  return variants;
}

}  // namespace kw
