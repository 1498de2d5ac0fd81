#include "problem/operator.hpp"

#include <algorithm>
#include <utility>

namespace kw {

OperatorList::OperatorList(std::vector<const Operator*> all) : all_(std::move(all)) {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    KW_CHECK(all_[i] != nullptr, "operator {} of the list is null", i);
    const std::string_view op = all_[i]->format.op;
    KW_CHECK(!op.empty(), "operator {} of the list has no name", i);
    const bool taken = std::any_of(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(i),
                                   [&](const Operator* other) { return other->format.op == op; });
    KW_CHECK(!taken, "there are two operators named {}", op);
  }
}

const Operator* find_operator(std::string_view op) {
  for (const Operator* one : operators().all()) {
    if (one->format.op == op) return one;
  }
  return nullptr;
}

const Operator& operator_of(const Problem& problem) {
  const Operator* const found = find_operator(problem.op);
  KW_CHECK(found != nullptr, "operator {}", problem.op);
  return *found;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const Operator* one : operators().all()) names.emplace_back(one->format.op);
  return names;
}

}  // namespace kw
