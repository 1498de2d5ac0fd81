// Tensors made of numbers. `empty` holds zeros. What is drawn at random has a row, so that every operator of the reader
// has one, but is never asked: its nodes are random.

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

#include "operators/program/oracle/answers.hpp"

namespace kw::program_oracle {
namespace {

Answer filled(double value) {
  return by_place(each_element([value](std::int64_t) { return value; }));
}

Result<Answer> zeros(const OracleCall&) {
  return filled(0.0);
}
Result<Answer> ones(const OracleCall&) {
  return filled(1.0);
}
Result<Answer> full(const OracleCall& call) {
  return filled(call.number("fill_value"));
}

Result<Answer> arange(const OracleCall& call) {
  return each_element([start = call.number("start"), step = call.number("step")](std::int64_t i) {
    return start + static_cast<double>(i) * step;
  });
}

/// From both ends to the middle, so that the last one is exact.
Result<Answer> linspace(const OracleCall& call) {
  const auto steps = call.integer("steps");
  const double start = call.number("start");
  const double end = call.number("end");
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0.0;
  return each_element([=](std::int64_t i) {
    return i < (steps + 1) / 2 ? start + static_cast<double>(i) * step
                               : end - static_cast<double>(steps - 1 - i) * step;
  });
}

Result<Answer> eye(const OracleCall& call) {
  return each_element(
      [columns = call.output_extents()[1]](std::int64_t i) { return i / columns == i % columns ? 1.0 : 0.0; });
}

/// The numbers of the text that the reader made of a literal, such as "[[1, 2.5], [3, 4]]".
Result<Answer> literal(const OracleCall& call) {
  std::vector<double> values;
  const auto& text = call.text("values");
  for (const char* at = text.c_str(); *at != '\0';) {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end != at) values.push_back(value);
    at = end != at ? end : at + 1;
  }
  if (static_cast<std::int64_t>(values.size()) != volume_of(call.output_extents())) {
    return call.refuse(fmt::format("the tensor {} is not written out", text), "write a shorter list");
  }
  return each_element([values = std::move(values)](std::int64_t i) { return values[static_cast<std::size_t>(i)]; });
}

Result<Answer> drawn(const OracleCall& call) {
  return call.refuse(fmt::format("{} draws random numbers", call.op()), "draw them, and give them as a leaf");
}

constexpr std::array k_creation_answers = {
    OracleRow{"rand", drawn},       OracleRow{"randn", drawn},       OracleRow{"randint", drawn},
    OracleRow{"uniform", drawn},    OracleRow{"normal", drawn},      OracleRow{"rand_like", drawn},
    OracleRow{"randn_like", drawn}, OracleRow{"zeros", zeros},       OracleRow{"zeros_like", zeros},
    OracleRow{"new_zeros", zeros},  OracleRow{"empty", zeros},       OracleRow{"empty_like", zeros},
    OracleRow{"ones", ones},        OracleRow{"ones_like", ones},    OracleRow{"new_ones", ones},
    OracleRow{"full", full},        OracleRow{"full_like", full},    OracleRow{"tensor", literal},
    OracleRow{"arange", arange},    OracleRow{"linspace", linspace}, OracleRow{"eye", eye},
};

}  // namespace

std::span<const OracleRow> creation_answers() {
  return k_creation_answers;
}

}  // namespace kw::program_oracle
