#include "mod/analysis/linear.hpp"

namespace kw {

void extend_dependencies(const ModFunction& mod, std::vector<Dependencies>& known) {
  while (known.size() < mod.nodes.size()) {
    const auto& node = mod.nodes[known.size()];
    Dependencies own;
    own.score = node.op == ExprOp::score;
    own.batch = node.op == ExprOp::batch;
    own.head = node.op == ExprOp::head;
    own.query = node.op == ExprOp::query;
    own.key = node.op == ExprOp::key;
    for (const auto arg : node.args) {
      const auto& of_arg = known[static_cast<std::size_t>(arg)];
      own.score = own.score || of_arg.score;
      own.batch = own.batch || of_arg.batch;
      own.head = own.head || of_arg.head;
      own.query = own.query || of_arg.query;
      own.key = own.key || of_arg.key;
    }
    known.push_back(own);
  }
}

std::vector<Dependencies> dependencies(const ModFunction& mod) {
  std::vector<Dependencies> all;
  extend_dependencies(mod, all);
  return all;
}

}  // namespace kw
