#include "operators/program/program_detail.hpp"

namespace kw {

const ProgramDetail& program_detail(const Problem& problem) {
  const auto* detail = dynamic_cast<const ProgramDetail*>(problem.detail.get());
  KW_CHECK(detail != nullptr, "operator {}", problem.op);
  return *detail;
}

}  // namespace kw
