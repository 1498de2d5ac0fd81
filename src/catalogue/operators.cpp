// The operators of this program.
#include "operators/attention/operator.hpp"
#include "operators/program/operator.hpp"
#include "problem/operator.hpp"

namespace kw {

const OperatorList& operators() {
  static const OperatorList list({&attention_operator(), &program_operator()});
  return list;
}

}  // namespace kw
