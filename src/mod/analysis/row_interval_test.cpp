// Row intervals of masks that read captured tensors, against evaluation of every score.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/rng.hpp"
#include "mod/analysis/analysis.hpp"
#include "mod/analysis/row_evaluator.hpp"
#include "mod/expression/expr_builder.hpp"

namespace kw {
namespace {

const Axes k_axes = {{"B", 2}, {"Hq", 2}, {"Hkv", 2}, {"Sq", 24}, {"Skv", 30},
                     {"D", 8}, {"Dv", 8}, {"N", 7},   {"L", 20}};

ModCapture capture(const std::string& name, DType dtype, std::vector<std::string> axes, bool sorted, double low,
                   double high) {
  return {name, dtype, std::move(axes), sorted, low, high};
}
// Documents of all keys, of each batch, of fewer elements than there are keys; what is not sorted; bounds and offsets.
const ModCapture k_doc = capture("doc", DType::i32, {"Skv"}, true, 0, 6);
const ModCapture k_docs = capture("docs", DType::i32, {"B", "Skv"}, true, 0, 6);
const ModCapture k_short = capture("short_doc", DType::i32, {"L"}, true, 0, 6);
const ModCapture k_mixed = capture("mixed", DType::i32, {"Skv"}, false, 0, 6);
const ModCapture k_times = capture("times", DType::f32, {"Skv"}, true, -2, 2);
const ModCapture k_offset = capture("offset", DType::i32, {"N"}, true, 0, 30);
const ModCapture k_prefix = capture("prefix", DType::i32, {"B"}, false, 0, 30);
const ModCapture k_flag = capture("flag", DType::boolean, {"Sq"}, false, 0, 1);

CaptureData random_values(Rng& rng) {
  CaptureData data;
  for (const ModCapture& declared : {k_doc, k_docs, k_short, k_mixed, k_times, k_offset, k_prefix, k_flag}) {
    CapturedTensor tensor;
    std::int64_t count = 1;
    for (const auto& axis : declared.axes) {
      tensor.extents.push_back(k_axes.at(axis));
      count *= tensor.extents.back();
    }
    const auto steps = static_cast<std::int64_t>(declared.high - declared.low);
    for (std::int64_t i = 0; i < count; ++i)
      tensor.values.push_back(static_cast<float>(declared.low + static_cast<double>(rng.below(steps + 1))));
    const auto row = tensor.extents.back();
    for (auto begin = tensor.values.begin(); declared.sorted && begin != tensor.values.end(); begin += row)
      std::sort(begin, begin + row);
    data.emplace(declared.name, std::move(tensor));
  }
  return data;
}

/// The keys the interval allows, against those the mask does, in every row.
void expect_same_rows(const ModFunction& mod, ExprId mask, const RowInterval& interval, const CaptureData& data,
                      const std::string& label) {
  ModFunction part = mod;
  part.root = mask;
  part = in_normal_order(part);
  ModRowEvaluator evaluator(part, k_axes, data);
  ModFunction ends = mod;
  const auto value_of = [&](ExprId node, const ModPoint& point) {
    ends.root = node;
    return evaluate(ends, k_axes, point, data);
  };
  std::vector<double> allowed(static_cast<std::size_t>(k_axes.at("Skv")));
  for (std::int64_t b = 0; b < k_axes.at("B"); ++b) {
    for (std::int64_t q = 0; q < k_axes.at("Sq"); ++q) {
      const ModPoint point{0.0, b, b, q, 0};
      double first = 0.0;
      double last = static_cast<double>(k_axes.at("Skv") - 1);
      for (const auto node : interval.first) first = std::max(first, value_of(node, point));
      for (const auto node : interval.last) last = std::min(last, value_of(node, point));
      evaluator.run({b, b, q}, 0, allowed);
      for (std::size_t k = 0; k < allowed.size(); ++k) {
        const auto key = static_cast<double>(k);
        ASSERT_EQ(allowed[k] != 0.0, key >= first && key <= last) << label << " at b " << b << " q " << q << " k " << k;
      }
    }
  }
}

/// Short names for what masks are made of.
struct Masks {
  ModFunction mod;
  ExprBuilder make{mod};
  ExprId k = make.leaf(ExprOp::key);
  ExprId q = make.leaf(ExprOp::query);
  ExprId b = make.leaf(ExprOp::batch);
  ExprId doc_q = make.gather(k_doc, {q});
  ExprId doc_k = make.gather(k_doc, {k});
  ExprId prefix = make.gather(k_prefix, {b});

  ExprId integer(std::int64_t value) { return make.integer(value); }
  ExprId op(ExprOp op, ExprId left, ExprId right) { return make.binary(op, left, right); }
  ExprId both(ExprId left, ExprId right) { return op(ExprOp::bit_and, left, right); }
  ExprId either(ExprId left, ExprId right) { return op(ExprOp::bit_or, left, right); }
  ExprId causal() { return op(ExprOp::greater_equal, q, k); }
  ExprId window(std::int64_t keys) {
    return both(causal(), op(ExprOp::less, op(ExprOp::subtract, q, k), integer(keys)));
  }
};

void expect_proved(Masks& masks, ExprId mask, const std::string& label) {
  masks.mod.root = mask;
  const auto interval = row_interval(masks.mod);
  ASSERT_TRUE(interval) << label;
  ASSERT_EQ(masks.mod.root, mask);
  constexpr std::uint64_t k_seed = 5;
  Rng rng(k_seed);
  for (int draw = 0; draw < 4; ++draw)
    expect_same_rows(masks.mod, mask, *interval, random_values(rng),
                     fmt::format("{}, seed {} draw {}", label, k_seed, draw));
}

TEST(RowIntervalOfCaptures, documents_are_intervals_when_sorted) {
  Masks m;
  const auto same = m.op(ExprOp::equal, m.doc_q, m.doc_k);
  expect_proved(m, same, "document");
  expect_proved(m, m.both(same, m.causal()), "document + causal");
  expect_proved(m, m.op(ExprOp::equal, m.make.gather(k_docs, {m.b, m.k}), m.make.gather(k_docs, {m.b, m.q})),
                "document per batch");
  expect_proved(m, m.op(ExprOp::equal, m.make.gather(k_short, {m.k}), m.make.gather(k_short, {m.q})),
                "fewer documents than keys");
}

TEST(RowIntervalOfCaptures, every_comparison_with_a_sorted_tensor_is_one) {
  for (const auto op : {ExprOp::less, ExprOp::less_equal, ExprOp::greater, ExprOp::greater_equal, ExprOp::equal}) {
    Masks m;
    const auto label = fmt::format("op {}", static_cast<int>(op));
    expect_proved(m, m.op(op, m.doc_k, m.doc_q), label);
    expect_proved(m, m.op(op, m.doc_q, m.doc_k), label + " mirrored");
    expect_proved(m, m.op(op, m.make.gather(k_short, {m.k}), m.integer(3)), label + " short");
    if (op == ExprOp::equal) continue;
    expect_proved(m, m.make.unary(ExprOp::bit_not, m.op(op, m.doc_k, m.doc_q)), label + " negated");
    expect_proved(m, m.op(op, m.make.gather(k_times, {m.k}), m.make.real(0.5)), label + " of floats");
  }
}

TEST(RowIntervalOfCaptures, positions_within_a_document_are_differences_of_indices) {
  Masks m;
  const auto position = [&](ExprId index, ExprId doc) {
    return m.op(ExprOp::subtract, index, m.make.gather(k_offset, {doc}));
  };
  const auto same = m.op(ExprOp::equal, m.doc_q, m.doc_k);
  const auto inner = m.op(ExprOp::greater_equal, position(m.q, m.doc_q), position(m.k, m.doc_k));
  expect_proved(m, m.both(same, inner), "document with a causal inner mask");
  m.mod.root = inner;
  EXPECT_FALSE(row_interval(m.mod)) << "without the equality the offsets of other documents count";
}

TEST(RowIntervalOfCaptures, unions_are_proved_where_they_must_be_intervals) {
  Masks m;
  expect_proved(m, m.either(m.op(ExprOp::less, m.k, m.prefix), m.causal()), "prefix per batch | causal");
  const auto flag = m.make.gather(k_flag, {m.q});
  expect_proved(m, m.either(flag, m.window(5)), "global rows | window");
  expect_proved(m, m.either(m.window(5), m.make.unary(ExprOp::bit_not, flag)), "window | not global rows");
  const auto next = m.op(ExprOp::equal, m.k, m.op(ExprOp::add, m.q, m.integer(1)));
  expect_proved(m, m.either(m.window(5), next), "window | next key");
  expect_proved(m, m.make.select(flag, m.window(3), m.causal()), "a row chooses its mask");
}

TEST(RowIntervalOfCaptures, quotients_by_a_constant_are_chunks) {
  Masks m;
  const auto chunk = [&](ExprId index) {
    return m.op(ExprOp::floor_divide, m.op(ExprOp::subtract, index, m.prefix), m.integer(8));
  };
  for (const auto op : {ExprOp::less, ExprOp::less_equal, ExprOp::greater, ExprOp::greater_equal, ExprOp::equal})
    expect_proved(m, m.both(m.op(op, chunk(m.k), chunk(m.q)), m.causal()),
                  fmt::format("chunks, op {}", static_cast<int>(op)));
}

TEST(RowIntervalOfCaptures, nothing_else_is_claimed) {
  Masks m;
  const auto refuse = [&](ExprId mask, const char* label) {
    m.mod.root = mask;
    EXPECT_FALSE(row_interval(m.mod)) << label;
  };
  refuse(m.op(ExprOp::equal, m.make.gather(k_mixed, {m.k}), m.doc_q), "a tensor that is not sorted");
  refuse(m.make.unary(ExprOp::bit_not, m.op(ExprOp::equal, m.doc_k, m.doc_q)), "another document");
  const auto next = m.op(ExprOp::add, m.k, m.integer(1));
  refuse(m.op(ExprOp::equal, m.make.gather(k_doc, {next}), m.doc_q), "the next key's document");
  refuse(m.op(ExprOp::less, m.doc_k, m.k), "a bound that depends on the key");
  refuse(m.op(ExprOp::equal, m.make.gather(k_docs, {m.k, m.k}), m.doc_q), "a row that depends on the key");
  refuse(m.either(m.op(ExprOp::less, m.k, m.prefix), m.window(5)), "global keys | window");
  const auto root = m.make.unary(ExprOp::sqrt, m.make.convert(m.prefix, ScalarType::real));
  const auto log = m.make.unary(ExprOp::log, m.op(ExprOp::subtract, root, m.make.real(3.0)));
  refuse(m.op(ExprOp::greater_equal, m.make.gather(k_times, {m.k}), log), "a bound that may be NaN");
}

/// Masks from the grammar that proofs are about, captures included; many are intervals, many are not quite.
class RandomMasks {
 public:
  RandomMasks(Rng& rng, Masks& masks) : rng_(rng), m_(masks) {}
  ExprId mask(int depth) {
    const auto choice = depth == 0 ? 0 : rng_.below(9);
    if (choice <= 2) return comparison();
    if (choice == 3) return m_.make.unary(ExprOp::bit_not, mask(depth - 1));
    if (choice == 4) {
      const auto condition = row_condition();
      const auto if_true = mask(depth - 1);
      return m_.make.select(condition, if_true, mask(depth - 1));
    }
    const auto left = choice == 5 ? row_condition() : mask(depth - 1);
    return rng_.below(2) == 0 ? m_.both(left, mask(depth - 1)) : m_.either(left, mask(depth - 1));
  }

 private:
  ExprOp any_comparison() {
    constexpr ExprOp k_all[] = {ExprOp::less,  ExprOp::less_equal, ExprOp::greater,  ExprOp::greater_equal,
                                ExprOp::equal, ExprOp::equal,      ExprOp::not_equal};
    return k_all[rng_.below(7)];
  }
  ExprId row_condition() {
    if (rng_.below(2) == 0) return m_.make.gather(k_flag, {m_.q});
    return m_.op(any_comparison(), row_value(1), m_.integer(rng_.below(20)));
  }
  ExprId comparison() {
    const auto op = any_comparison();
    if (rng_.below(8) == 0)
      return m_.op(op, m_.make.gather(k_times, {m_.k}), m_.make.convert(row_value(0), ScalarType::real));
    const auto left = key_value();
    return rng_.below(3) == 0 ? m_.op(op, row_value(1), left)
                              : m_.op(op, left, rng_.below(6) == 0 ? key_value() : row_value(1));
  }
  ExprId row_value(int depth) {
    switch (depth == 0 ? rng_.below(4) : rng_.below(8)) {
      case 0:
        return m_.q;
      case 1:
        return m_.integer(rng_.below(24) - 4);
      case 2:
        return m_.doc_q;
      case 3:
        return m_.prefix;
      case 4:
        return m_.op(ExprOp::floor_divide, row_value(0), m_.integer(4));
      case 5:
        return m_.make.gather(k_docs, {m_.b, m_.q});
      case 6:
        return m_.op(ExprOp::add, row_value(0), row_value(0));
      default:
        return m_.op(ExprOp::subtract, row_value(0), row_value(0));
    }
  }
  ExprId key_value() {
    switch (rng_.below(9)) {
      case 0:
        return m_.doc_k;
      case 1:
        return m_.make.gather(k_docs, {m_.b, m_.k});
      case 2:
        return m_.make.gather(k_short, {m_.k});
      case 3:
        return m_.make.unary(ExprOp::absolute, m_.op(ExprOp::subtract, m_.k, row_value(0)));
      case 4:
        return m_.op(ExprOp::floor_divide, m_.op(ExprOp::subtract, m_.k, row_value(0)), m_.integer(1 + rng_.below(6)));
      case 5:
        return m_.op(ExprOp::subtract, m_.k, m_.make.gather(k_offset, {m_.doc_k}));
      case 6:
        return m_.op(ExprOp::subtract, row_value(0), m_.k);
      case 7:
        return m_.make.gather(k_mixed, {m_.k});
      default:
        return m_.k;
    }
  }

  Rng& rng_;
  Masks& m_;
};

TEST(RowIntervalOfCaptures, agree_with_brute_force_on_random_masks) {
  constexpr std::uint64_t k_seed = 20261;
  Rng rng(k_seed);
  int proofs = 0;
  int searches = 0;
  for (int round = 0; round < 3000 && proofs < 300; ++round) {
    Masks masks;
    const auto mask = RandomMasks(rng, masks).mask(3);
    masks.mod.root = mask;
    if (!dependencies(masks.mod)[static_cast<std::size_t>(mask)].key) continue;
    const auto interval = row_interval(masks.mod);
    if (!interval) continue;
    ++proofs;
    for (const auto& node : masks.mod.nodes) searches += node.op == ExprOp::lower_bound ? 1 : 0;
    for (int draw = 0; draw < 2; ++draw)
      expect_same_rows(masks.mod, mask, *interval, random_values(rng), fmt::format("seed {} round {}", k_seed, round));
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(proofs, 300) << "the test has become vacuous";
  EXPECT_GE(searches, 50) << "the test has become vacuous";
}

}  // namespace
}  // namespace kw
