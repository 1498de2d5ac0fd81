// Every shipped problem under deliberate mistakes: the right answer to slightly wrong work, computed by the oracle,
// must differ from the right answer on at least one case of the check suite by more than any kernel is allowed to err.
// Otherwise a kernel that makes the mistake would pass. Only the small workloads are asked, not the primary.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>

#include "operators/attention/attention.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/checking/check_suite.hpp"

namespace kw {
namespace {

/// More than what a plain f32 kernel errs on any case, times the factor; f16 and bf16 outputs may err more where they
/// have few rows.
constexpr double k_allowed = 2e-3;

/// The wrong answer to a case.
using Mutation = std::function<OutputValues(const Problem&, const CheckCase&)>;
struct Mutant {
  std::string name;
  /// Whether the mistake can be made at all: there is a mask, a second head, ...
  std::function<bool(const Problem&)> possible;
  Mutation mutate;
  bool each_head = false;  ///< must show on each head by itself where the score function differs between heads
};

const Axes& axes_of(const Problem& problem, const CheckCase& one) {
  return problem.workloads[one.workload].axes;
}

OutputValues answer(const Problem& problem, const CheckCase& one, const InputValues& inputs) {
  auto outputs = evaluate_oracle(problem, problem.workloads[one.workload], inputs);
  KW_CHECK(outputs.has_value(), "{}", outputs.error().to_string());
  return *std::move(outputs);
}

/// The mean over the keys [begin, end) alone. With V = 0 elsewhere the oracle gives the sum of those values times
/// weights, with V = 1 there and 0 elsewhere the sum of the weights.
OutputValues over_keys(const Problem& problem, const CheckCase& one, std::int64_t begin, std::int64_t end) {
  const Axes& axes = axes_of(problem, one);
  InputValues values = one.inputs;
  InputValues weights = one.inputs;
  const auto keys = axes.at("Skv");
  for (std::size_t i = 0; i < values[2].size(); ++i) {
    const std::int64_t key = static_cast<std::int64_t>(i) / axes.at("Dv") % keys;
    const bool kept = begin <= key && key < end;
    values[2][i] = kept ? values[2][i] : 0.0F;
    weights[2][i] = kept ? 1.0F : 0.0F;
  }
  OutputValues result = answer(problem, one, values);
  const OutputValues sums = answer(problem, one, weights);
  for (std::size_t i = 0; i < result[0].size(); ++i) {
    result[0][i] = sums[0][i] > std::numeric_limits<double>::min() ? result[0][i] / sums[0][i] : 0.0;
  }
  return result;
}

/// Slice `to` of a tensor of `slices` slices becomes a copy of slice `from` of another.
void copy_slice(const std::vector<float>& source, std::int64_t from, std::vector<float>& target, std::int64_t to,
                std::int64_t slices) {
  const std::int64_t length = std::ssize(target) / slices;
  std::copy_n(source.begin() + from * length, length, target.begin() + to * length);
}

/// Every head's data handled as if it were head 0.
OutputValues as_first_head(const Problem& problem, const CheckCase& one) {
  const Axes& axes = axes_of(problem, one);
  const std::int64_t heads = axes.at("Hq");
  const std::int64_t key_heads = axes.at("Hkv");
  const std::int64_t batches = axes.at("B");
  OutputValues result;
  for (const Answer& answer : one.expected) result.push_back(answer.numbers());
  for (std::int64_t head = 1; head < heads; ++head) {
    InputValues inputs = one.inputs;
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      copy_slice(one.inputs[0], batch * heads + head, inputs[0], batch * heads, batches * heads);
      for (const std::size_t tensor : {1U, 2U}) {
        copy_slice(one.inputs[tensor], batch * key_heads + head / (heads / key_heads), inputs[tensor],
                   batch * key_heads, batches * key_heads);
      }
    }
    const OutputValues moved = answer(problem, one, inputs);
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      const std::int64_t length = std::ssize(result[0]) / (batches * heads);
      std::copy_n(moved[0].begin() + batch * heads * length, length,
                  result[0].begin() + (batch * heads + head) * length);
    }
  }
  return result;
}

/// `inputs` with slices of some tensors taken from elsewhere: `source(slice)` of `slices`.
InputValues rearranged(const CheckCase& one, const std::vector<std::size_t>& tensors, std::int64_t slices,
                       const std::function<std::int64_t(std::int64_t)>& source) {
  InputValues inputs = one.inputs;
  for (const std::size_t tensor : tensors) {
    for (std::int64_t slice = 0; slice < slices; ++slice) {
      copy_slice(one.inputs[tensor], source(slice), inputs[tensor], slice, slices);
    }
  }
  return inputs;
}

std::vector<std::size_t> captures_per_batch(const Problem& problem) {
  std::vector<std::size_t> tensors;
  for (std::size_t i = problem.operand_count(); i < problem.inputs.size(); ++i) {
    if (!problem.inputs[i].axes.empty() && problem.inputs[i].axes.front() == "B") tensors.push_back(i);
  }
  return tensors;
}

bool any_workload(const Problem& problem, const std::function<bool(const Axes&)>& holds) {
  return std::any_of(problem.workloads.begin(), problem.workloads.end(),
                     [&](const Workload& workload) { return holds(workload.axes); });
}

/// The function that sees other heads is a function of the head.
bool uses(const std::optional<ModFunction>& mod, ExprOp op) {
  return mod && std::any_of(mod->nodes.begin(), mod->nodes.end(), [&](const auto& node) { return node.op == op; });
}

const std::vector<Mutant>& mutants() {
  const auto longer_than = [](std::int64_t keys) {
    return [keys](const Problem& problem) {
      return any_workload(problem, [keys](const Axes& axes) { return axes.at("Skv") > keys; });
    };
  };
  static const std::vector<Mutant> all = {
      {"the first tile of 64 keys only", longer_than(64),
       [](const Problem& problem, const CheckCase& one) { return over_keys(problem, one, 0, 64); }, true},
      {"the last tile of 64 keys only", longer_than(64),
       [](const Problem& problem, const CheckCase& one) {
         const auto keys = axes_of(problem, one).at("Skv");
         return over_keys(problem, one, std::max<std::int64_t>(0, keys - 64), keys);
       },
       true},
      {"the last sixteen keys dropped", longer_than(64),
       [](const Problem& problem, const CheckCase& one) {
         const auto keys = axes_of(problem, one).at("Skv");
         return over_keys(problem, one, 0, keys > 64 ? keys - 16 : keys);
       }},
      {"the score function dropped",
       [](const Problem& problem) { return attention_of(problem)->score_mod.has_value(); },
       [](Problem problem, const CheckCase& one) {
         auto spec = *attention_of(problem);
         spec.score_mod.reset();
         set_attention(problem, std::move(spec));
         return answer(problem, one, one.inputs);
       }},
      {"the mask dropped", [](const Problem& problem) { return attention_of(problem)->mask_mod.has_value(); },
       [](Problem problem, const CheckCase& one) {
         auto spec = *attention_of(problem);
         spec.mask_mod.reset();
         set_attention(problem, std::move(spec));
         return answer(problem, one, one.inputs);
       }},
      {"every head is head 0",
       [](const Problem& problem) {
         return uses(attention_of(problem)->score_mod, ExprOp::head) ||
                uses(attention_of(problem)->mask_mod, ExprOp::head);
       },
       [](const Problem& problem, const CheckCase& one) { return as_first_head(problem, one); }},
      {"the keys of head 0 for all",
       [](const Problem& problem) { return any_workload(problem, [](const Axes& a) { return a.at("Hkv") > 1; }); },
       [](const Problem& problem, const CheckCase& one) {
         const auto heads = axes_of(problem, one).at("Hkv");
         return answer(problem, one,
                       rearranged(one, {1, 2}, axes_of(problem, one).at("B") * heads,
                                  [&](std::int64_t s) { return s / heads * heads; }));
       }},
      {"the keys of batch 0 for all",
       [](const Problem& problem) { return any_workload(problem, [](const Axes& a) { return a.at("B") > 1; }); },
       [](const Problem& problem, const CheckCase& one) {
         const auto batches = axes_of(problem, one).at("B");
         return answer(problem, one, rearranged(one, {1, 2}, batches, [](std::int64_t) { return 0; }));
       }},
      {"the captured tensors of batch 0 for all",
       [](const Problem& problem) { return !captures_per_batch(problem).empty(); },
       [](const Problem& problem, const CheckCase& one) {
         const auto batches = axes_of(problem, one).at("B");
         return answer(problem, one,
                       rearranged(one, captures_per_batch(problem), batches, [](std::int64_t) { return 0; }));
       }},
  };
  return all;
}

/// The query heads on which the wrong answer is told from the right one.
std::vector<bool> heads_caught(const Problem& problem, const CheckCase& one, const OutputValues& wrong) {
  const Axes& axes = axes_of(problem, one);
  const std::vector<float> values(wrong[0].begin(), wrong[0].end());
  const std::int64_t rows = axes.at("Sq") * axes.at("Dv");
  const OutputForm stored = output_form(problem, problem.outputs[0], axes);
  const TensorSpec single{problem.outputs[0].name, DType::f32, problem.outputs[0].axes};
  const OutputForm as_f32 = output_form(problem, single, axes);
  const double allowed = std::max(k_allowed, allowed_error(stored, values.size(), 0.0));
  std::vector<bool> caught(static_cast<std::size_t>(axes.at("Hq")));
  const std::vector<double> right = one.expected[0].numbers();
  for (std::int64_t slice = 0; slice < axes.at("B") * axes.at("Hq"); ++slice) {
    // As if all other heads were right: judged against the scale of the whole output.
    std::vector<float> mixed(right.begin(), right.end());
    std::copy_n(values.begin() + slice * rows, rows, mixed.begin() + slice * rows);
    const auto error = measure_error(std::as_bytes(std::span(mixed)), 0xffffffffU, right, as_f32, allowed);
    if (error.over > 0) caught[static_cast<std::size_t>(slice % axes.at("Hq"))] = true;
  }
  return caught;
}

bool judged_by_head(const Problem& problem, const Mutant& mutant) {
  return mutant.each_head && uses(attention_of(problem)->score_mod, ExprOp::head);
}

/// Heads of the workloads where the mistake can be made at all, on which no case shows it; one entry, head 0, stands
/// for a mistake that only has to show somewhere.
std::vector<std::size_t> heads_not_caught(const Problem& problem, const CheckSuite& suite, const Mutant& mutant) {
  const bool every_head = judged_by_head(problem, mutant);
  const auto counts = [&](const Workload& workload) { return !every_head || workload.axes.at("Skv") > 64; };
  std::int64_t heads = 1;
  for (const Workload& workload : problem.workloads) {
    if (every_head && counts(workload)) heads = std::max(heads, workload.axes.at("Hq"));
  }
  std::vector<bool> caught(static_cast<std::size_t>(heads));
  for (const CheckCase& one : suite.cases()) {
    if (!counts(problem.workloads[one.workload])) continue;
    const auto here = heads_caught(problem, one, mutant.mutate(problem, one));
    for (std::size_t h = 0; h < here.size(); ++h) {
      if (here[h]) caught[every_head ? h : 0] = true;
    }
    if (std::find(caught.begin(), caught.end(), false) == caught.end()) break;
  }
  std::vector<std::size_t> missed;
  for (std::size_t h = 0; h < caught.size(); ++h) {
    if (!caught[h]) missed.push_back(h);
  }
  return missed;
}

std::vector<std::string> shipped_problems() {
  std::vector<std::string> names;
  const std::filesystem::path root = "problems";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".toml") {
      names.push_back(std::filesystem::relative(entry.path(), root).replace_extension("").string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class MutantTest : public ::testing::TestWithParam<std::string> {};

TEST_P(MutantTest, is_told_from_the_right_answer) {
  auto loaded = load_problem(GetParam(), RealFileSystem(), {"problems"});
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  Problem problem = *std::move(loaded);
  problem.workloads.erase(problem.workloads.begin());
  constexpr std::uint64_t k_seed = 20261121;
  const auto suite = CheckSuite::make(problem, k_seed, serial_for);
  ASSERT_TRUE(suite) << suite.error().to_string();
  for (const auto& mutant : mutants()) {
    if (!mutant.possible(problem)) continue;
    for (const std::size_t head : heads_not_caught(problem, *suite, mutant)) {
      ADD_FAILURE() << GetParam() << ": a kernel that does this would pass: " << mutant.name
                    << (judged_by_head(problem, mutant) ? fmt::format(", on head {}", head) : "") << " (seed " << k_seed
                    << ")";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Mutants, MutantTest, ::testing::ValuesIn(shipped_problems()), [](const auto& name) {
  std::string text = name.param;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return text;
});

}  // namespace
}  // namespace kw
