// Elementwise functions of three tensors.

#include <array>

#include "operators/program/oracle/answers.hpp"

namespace kw::program_oracle {
namespace {

struct Three {
  Broadcast first;
  Broadcast second;
  Broadcast third;
};

Three three_of(const OracleCall& call, const char* first, const char* second, const char* third) {
  const auto extents = call.output_extents();
  return {Broadcast(call.tensor(first), extents), Broadcast(call.tensor(second), extents),
          Broadcast(call.tensor(third), extents)};
}

Result<Answer> where(const OracleCall& call) {
  return each_repeated([of = three_of(call, "condition", "input", "other")](std::int64_t i) {
    return of.first[i] != 0.0 ? of.second[i] : of.third[i];
  });
}

Result<Answer> lerp(const OracleCall& call) {
  return each_repeated([of = three_of(call, "input", "end", "weight")](std::int64_t i) {
    const double start = of.first[i];
    return start + of.third[i] * (of.second[i] - start);
  });
}

Result<Answer> masked_fill(const OracleCall& call) {
  return each_repeated([of = three_of(call, "input", "mask", "value")](std::int64_t i) {
    return of.second[i] != 0.0 ? of.third[i] : of.first[i];
  });
}

Result<Answer> addcmul(const OracleCall& call) {
  return each_repeated([of = three_of(call, "input", "tensor1", "tensor2"), factor = call.number("value")](
                           std::int64_t i) { return of.first[i] + factor * of.second[i] * of.third[i]; });
}

Result<Answer> addcdiv(const OracleCall& call) {
  return each_repeated([of = three_of(call, "input", "tensor1", "tensor2"), factor = call.number("value")](
                           std::int64_t i) { return of.first[i] + factor * of.second[i] / of.third[i]; });
}

constexpr std::array k_blend_answers = {
    OracleRow{"where", where},     OracleRow{"lerp", lerp},       OracleRow{"masked_fill", masked_fill},
    OracleRow{"addcmul", addcmul}, OracleRow{"addcdiv", addcdiv},
};

}  // namespace

std::span<const OracleRow> blend_answers() {
  return k_blend_answers;
}

}  // namespace kw::program_oracle
