#include "spec/mod_analysis.hpp"

namespace kw {

std::vector<Dependencies> dependencies(const ModFunction& mod) {
  std::vector<Dependencies> all;
  all.reserve(mod.nodes.size());
  for (const auto& node : mod.nodes) {
    Dependencies own;
    own.score = node.op == ExprOp::score;
    own.batch = node.op == ExprOp::batch;
    own.head = node.op == ExprOp::head;
    own.query = node.op == ExprOp::query;
    own.key = node.op == ExprOp::key;
    for (const auto arg : node.args) {
      const auto& of_arg = all[static_cast<std::size_t>(arg)];
      own.score = own.score || of_arg.score;
      own.batch = own.batch || of_arg.batch;
      own.head = own.head || of_arg.head;
      own.query = own.query || of_arg.query;
      own.key = own.key || of_arg.key;
    }
    all.push_back(own);
  }
  return all;
}

}  // namespace kw
