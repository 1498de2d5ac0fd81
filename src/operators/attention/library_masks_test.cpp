// The masks and biases of the shipped problems against definitions of their own, for one pair at a time and where
// possible from other data: documents from their offsets instead of ids, windows by counting keys.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/file_system.hpp"
#include "mod/analysis/analysis.hpp"
#include "operators/attention/attention.hpp"
#include "problem/problem.hpp"

namespace kw {
namespace {

struct Pair {
  const Axes& axes;
  const CaptureData& captures;
  std::int64_t b, h, q, k;
  [[nodiscard]] std::int64_t axis(const char* name) const { return axes.at(name); }
  [[nodiscard]] double real(const char* name, const std::vector<std::int64_t>& index) const {
    const auto& tensor = captures.at(name);
    std::size_t flat = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      EXPECT_TRUE(index[i] >= 0 && index[i] < tensor.extents[i]) << name;
      flat = flat * static_cast<std::size_t>(tensor.extents[i]) + static_cast<std::size_t>(index[i]);
    }
    return static_cast<double>(tensor.values.at(flat));
  }
  [[nodiscard]] std::int64_t number(const char* name, const std::vector<std::int64_t>& index) const {
    return static_cast<std::int64_t>(real(name, index));
  }
  /// The document that holds a position, found from where documents begin; one further past the last.
  [[nodiscard]] std::int64_t document(std::int64_t position, const std::vector<std::int64_t>& batch) const {
    std::int64_t found = 0;
    auto index = batch;
    index.push_back(0);
    for (std::int64_t i = 1; i < axis("Offsets"); ++i) {
      index.back() = i;
      if (number("offsets", index) <= position) found = i;
    }
    return found;
  }
};

using Mask = std::function<bool(const Pair&)>;
using Bias = std::function<double(const Pair&, double score)>;

bool same_document_of_batch(const Pair& p) {
  return p.document(p.q, {p.b}) == p.document(p.k, {p.b});
}
bool causal_in_document(const Pair& p) {
  return p.document(p.q, {}) == p.document(p.k, {}) && p.k <= p.q;
}
bool causal(const Pair& p) {
  return p.k <= p.q;
}
double alibi(const Pair& p, double score) {
  return score + std::pow(2.0, -8.0 * static_cast<double>(p.h + 1) / static_cast<double>(p.axis("Hq"))) *
                     static_cast<double>(p.k - p.q);
}

bool shared_prefix(const Pair& p) {
  const auto query = p.document(p.q, {});
  const auto key = p.document(p.k, {});
  return query == key ? p.k <= p.q : key % 4 == 0 && query / 4 == key / 4 && key < query;
}

bool block_diffusion(const Pair& p) {
  const auto half = p.axis("Sq") / 2;
  const auto block = [&](std::int64_t x) { return x % half / 32; };
  const bool clean_query = p.q >= half;
  const bool clean_key = p.k >= half;
  if (!clean_query && !clean_key) return block(p.q) == block(p.k);
  if (clean_query && !clean_key) return false;
  return clean_query ? block(p.k) <= block(p.q) : block(p.k) < block(p.q);
}

/// Chunks are cut forwards and backwards from the start, so that one border always lies on it.
bool chunked(const Pair& p) {
  const auto start = p.number("left_padding", {p.b});
  bool border = false;
  for (auto x = p.k + 1; x <= p.q; ++x) border = border || (x - start) % 96 == 0;
  return p.k <= p.q && !border;
}

/// HuggingFace's relative_position_bucket for two directions, 32 buckets and a distance of 128.
std::int64_t t5_bucket(std::int64_t distance) {
  const auto far = std::abs(distance);
  auto bucket = far;
  if (far >= 8) {
    bucket = 8;
    while (bucket < 15 &&
           static_cast<double>(far) >= 8.0 * std::pow(16.0, static_cast<double>(bucket - 7) / 8.0) - 1e-9)
      ++bucket;
  }
  return bucket + (distance > 0 ? 16 : 0);
}

double learned_relative(const Pair& p, double score) {
  const auto length = p.axis("Distances");
  auto place = length / 2 + p.q - p.k;
  if (place < 0) place = 0;
  if (place >= length) place = length - 1;
  return score + p.real("table", {p.h, place});
}

const std::map<std::string, Mask> k_masks = {
    {"causal", causal},
    {"causal_f16", causal},
    {"causal_bf16", causal},
    {"causal_lse", causal},
    {"gqa_causal", causal},
    {"softcap_causal", causal},
    {"alibi_causal", causal},
    {"causal_bottom_right", [](const Pair& p) { return p.axis("Skv") - p.k >= p.axis("Sq") - p.q; }},
    {"sliding_window", [](const Pair& p) { return p.k <= p.q && p.q <= p.k + 128; }},
    {"sliding_window_w", [](const Pair& p) { return p.k <= p.q && p.k > p.q - p.axis("Window"); }},
    {"sliding_window_w_plus_1", [](const Pair& p) { return p.k <= p.q && p.k >= p.q - p.axis("Window"); }},
    {"symmetric_window", [](const Pair& p) { return p.q - 64 <= p.k && p.k <= p.q + 64; }},
    {"dilated_window", [](const Pair& p) { return p.q - 96 <= p.k && p.k <= p.q + 96 && p.q % 3 == p.k % 3; }},
    {"prefix_lm", [](const Pair& p) { return p.k < 200 || p.k <= p.q; }},
    {"prefix_lm_batch", [](const Pair& p) { return p.k < p.number("prefix", {p.b}) || p.k <= p.q; }},
    {"document", same_document_of_batch},
    {"document_lse", same_document_of_batch},
    {"softcap_alibi_document", same_document_of_batch},
    {"document_causal", causal_in_document},
    {"document_causal_f16", causal_in_document},
    {"padding", [](const Pair& p) { return p.k < p.number("length", {p.b}); }},
    {"cross_attention", [](const Pair& p) { return p.k < p.number("length", {p.b}); }},
    {"decode", [](const Pair& p) { return p.k <= p.number("position", {p.b}) + p.q; }},
    {"chunked", chunked},
    {"global_window",
     [](const Pair& p) {
       return std::abs(p.q - p.k) <= 32 || p.number("is_global", {p.b, p.q}) == 1 ||
              p.number("is_global", {p.b, p.k}) == 1;
     }},
    {"shared_prefix", shared_prefix},
    {"tree",
     [](const Pair& p) {
       const auto node = p.k - (p.axis("Skv") - p.axis("Sq"));
       return node < 0 || p.number("ancestor", {p.b, p.q, node}) == 1;
     }},
    {"block_diffusion", block_diffusion},
};

const std::map<std::string, Bias> k_biases = {
    {"relative", [](const Pair& p, double score) { return score + static_cast<double>(p.q - p.k); }},
    {"alibi", alibi},
    {"alibi_f16", alibi},
    {"alibi_bf16", alibi},
    {"alibi_lse", alibi},
    {"alibi_causal", alibi},
    {"softcap", [](const Pair&, double score) { return 20.0 * std::tanh(score / 20.0); }},
    {"softcap_f16", [](const Pair&, double score) { return 20.0 * std::tanh(score / 20.0); }},
    {"softcap_lse", [](const Pair&, double score) { return 20.0 * std::tanh(score / 20.0); }},
    {"softcap_causal", [](const Pair&, double score) { return 30.0 * std::tanh(score / 30.0); }},
    {"softcap_alibi_document",
     [](const Pair& p, double score) {
       return 20.0 * std::tanh(score / 20.0) + p.real("slopes", {p.h}) * static_cast<double>(p.k - p.q);
     }},
    {"learned_relative", learned_relative},
    {"t5_buckets",
     [](const Pair& p, double score) {
       return score + p.real("table", {t5_bucket(p.k - p.q), p.h});
     }},
    {"additive_mask",
     [](const Pair& p, double score) {
       const double bias = p.real("attention_mask", {p.b, 0, p.q, p.k});
       EXPECT_EQ(std::isinf(bias), p.k > p.q || p.k >= p.number("length", {p.b}));
       return score + bias;
     }},
    {"additive_mask_finite",
     [](const Pair& p, double score) {
       const bool seen = p.k <= p.q && p.k >= p.number("padding", {p.b});
       return score + (seen ? 0.0 : -static_cast<double>(std::numeric_limits<float>::max()));
     }},
    {"causal_finite", [](const Pair& p, double score) { return p.k <= p.q ? score : -1e9; }},
};

/// Every pair of some rows: the first, the last and evenly spaced ones, of each batch and of the outer heads.
void for_pairs(const Problem& problem, const Workload& workload, std::uint64_t seed,
               const std::function<void(const Pair&, const ModPoint&)>& use) {
  const auto& axes = workload.axes;
  const auto captures = draw_captures(problem.captures, axes, seed).value();
  const auto queries = axes.at("Sq");
  for (std::int64_t b = 0; b < axes.at("B"); ++b) {
    for (const auto h : {std::int64_t{0}, axes.at("Hq") - 1}) {
      for (std::int64_t q = 0; q < queries; q = q == queries - 1 ? queries : std::min(queries - 1, q + 13)) {
        for (std::int64_t k = 0; k < axes.at("Skv"); ++k) {
          use({axes, captures, b, h, q, k}, {0.37 * static_cast<double>(k % 11) - 1.5, b, h, q, k});
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

TEST(LibraryMasks, are_what_their_names_promise) {
  for (const auto& [name, expected] : k_masks) {
    const auto problem = load_problem("attention/" + name, RealFileSystem{}, {"problems"}).value();
    const auto& mask = *attention_of(problem)->mask_mod;
    for (const auto& workload : problem.workloads) {
      if (workload.role == WorkloadRole::primary) continue;
      const auto label = name + " " + workload.name;
      const Mask& wanted = expected;
      for_pairs(problem, workload, 3, [&](const Pair& pair, const ModPoint& point) {
        ASSERT_EQ(evaluate(mask, pair.axes, point, pair.captures) != 0.0, wanted(pair))
            << label << " at b " << pair.b << " h " << pair.h << " q " << pair.q << " k " << pair.k;
      });
    }
  }
}

TEST(LibraryBiases, are_what_their_names_promise) {
  for (const auto& [name, expected] : k_biases) {
    const auto problem = load_problem("attention/" + name, RealFileSystem{}, {"problems"}).value();
    const auto& bias = *attention_of(problem)->score_mod;
    for (const auto& workload : problem.workloads) {
      if (workload.role == WorkloadRole::primary) continue;
      const auto label = name + " " + workload.name;
      const Bias& wanted = expected;
      for_pairs(problem, workload, 4, [&](const Pair& pair, const ModPoint& point) {
        ASSERT_DOUBLE_EQ(evaluate(bias, pair.axes, point, pair.captures), wanted(pair, point.score))
            << label << " at b " << pair.b << " h " << pair.h << " q " << pair.q << " k " << pair.k;
      });
    }
  }
}

TEST(Library, has_a_definition_for_every_mod_it_ships) {
  for (const auto& entry : std::filesystem::directory_iterator("problems/attention")) {
    if (entry.path().extension() != ".toml") continue;
    const auto name = entry.path().stem().string();
    const auto problem = load_problem(entry.path().string(), RealFileSystem{}, {}).value();
    const bool elsewhere = name.substr(0, 12) == "neighborhood";  // neighborhood_test.cpp
    EXPECT_EQ(attention_of(problem)->mask_mod.has_value() && !elsewhere, k_masks.count(name) == 1) << name;
    EXPECT_EQ(attention_of(problem)->score_mod.has_value(), k_biases.count(name) == 1) << name;
  }
}

}  // namespace
}  // namespace kw
