#include "program/stages/rounding.hpp"

#include <algorithm>
#include <map>

#include "program/stages/decomposition.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

bool is_sum_of_products(const Stage& stage) {
  return stage.kind == StageKind::reduce && stage.op == ReduceOp::sum && !stage.inner.empty() && !stage.position &&
         stage.body->op == StageOp::multiply && stage.body->type == StageType::real;
}

bool is_16_bits(ElementType type) {
  return type == ElementType::float16 || type == ElementType::bfloat16;
}

/// Whether the factors are tf32 numbers as they are, and the result cannot tell what tensor cores cut off of sums.
bool is_of_16_bits(const StageProgram& program, const Stage& stage) {
  bool all = is_16_bits(program.buffers[stage.buffer].type.dtype);
  for_each_load(stage.body, [&](const StageNode& load) {
    all = all && is_16_bits(program.buffers[load.tensor.buffer].type.dtype);
  });
  return all;
}

class FactorRounding {
 public:
  explicit FactorRounding(StageProgram& program) : program_(program) {}

  void run() {
    for (std::size_t i = 0; i < program_.stages.size(); ++i) {
      if (!program_.stages[i].rounds_factors) continue;
      program_.stages[i].rounds_factors = false;
      for (const auto buffer : factors_of(program_.stages[i])) {
        if (copies_.count(buffer) > 0) continue;
        auto copying = copy_of(buffer, program_.stages[i].node);
        program_.stages.insert(program_.stages.begin() + static_cast<std::ptrdiff_t>(i), std::move(copying));
        ++i;
      }
      auto& stage = program_.stages[i];
      stage.body = rewritten(stage.body, [this](const StageExpr& node) {
        const auto copy = node->op == StageOp::load ? copies_.find(node->tensor.buffer) : copies_.end();
        if (copy == copies_.end()) return StageExpr();
        TensorView view = node->tensor;
        view.buffer = copy->second;
        return load(view, node->operands);
      });
    }
  }

 private:
  /// Buffers in the order in which the body has them.
  [[nodiscard]] std::vector<std::size_t> factors_of(const Stage& stage) const {
    std::vector<std::size_t> buffers;
    for_each_load(stage.body, [&](const StageNode& load) {
      // Numbers of 16 bits are tf32 numbers.
      if (program_.buffers[load.tensor.buffer].type.dtype == ElementType::float32) {
        buffers.push_back(load.tensor.buffer);
      }
    });
    return buffers;
  }

  Stage copy_of(std::size_t buffer, std::optional<std::size_t> node) {
    StageBuffer copy;
    copy.name = program_.buffers[buffer].name + "_in_tf32";
    std::replace(copy.name.begin(), copy.name.end(), '.', '_');  // of a parameter
    copy.type = program_.buffers[buffer].type;
    Stage stage;
    stage.node = node;
    stage.buffer = program_.buffers.size();
    stage.axes = named_axes(copy.type.shape);
    stage.body = apply(StageOp::round_to_tf32, read({buffer, copy.type}, stage.axes));
    copies_[buffer] = stage.buffer;
    program_.buffers.push_back(std::move(copy));
    return stage;
  }

  StageProgram& program_;
  std::map<std::size_t, std::size_t> copies_;
};

}  // namespace

void mark_rounded(StageProgram& program, const Graph& graph, Precision precision) {
  for (auto& stage : program.stages) {
    if (!is_sum_of_products(stage)) continue;
    const bool allowed = stage.node && rounds_factors(precision, graph.nodes[*stage.node]);
    stage.rounds_factors = allowed || is_of_16_bits(program, stage);
  }
}

void round_factors(StageProgram& program) {
  FactorRounding(program).run();
}

}  // namespace kw
