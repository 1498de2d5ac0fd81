// The operators of this program.
#include "operators/attention/operator.hpp"
#include "problem/operator.hpp"

namespace kw {

const OperatorList& operators() {
  static const OperatorList list({&attention_operator()});
  return list;
}

}  // namespace kw
