#include "operators/program/kernels/row_moments.hpp"

#include <fmt/format.h>

namespace kw {
Accumulator moments_accumulator() {
  Accumulator moments;
  moments.declarations = {"float count = 0.0f;", "float mean = 0.0f;", "float squares = 0.0f;"};
  moments.result = "(mean * count)";
  moments.state = {{"float", "count"}, {"float", "mean"}, {"float", "squares"}};
  // Where both have as many elements, both compute the same from the other one's.
  moments.merge = {"if (other_count > 0.0f) {",
                   "  const float together = count + other_count;",
                   "  const float apart = other_mean - mean;",
                   "  squares += other_squares + apart * apart * (count * other_count / together);",
                   "  mean = (mean * count + other_mean * other_count) / together;",
                   "  count = together;",
                   "}"};
  return moments;
}

MomentsText moments_of_batch(const std::string& counts) {
  MomentsText text;
  text.before = {"float other_count = 0.0f;", "float other_mean = 0.0f;", "float other_squares = 0.0f;"};
  text.uses = {"other_count += 1.0f;", "other_mean += values[part];"};
  text.after = {"if (other_count > 0.0f) other_mean /= other_count;",
                "#pragma unroll",
                "for (int part = 0; part < batch; ++part) {",
                "  " + counts + " {",
                "    const float apart = values[part] - other_mean;",
                "    other_squares += apart * apart;",
                "  }",
                "}"};
  const auto merge = moments_accumulator().merge;
  text.after.insert(text.after.end(), merge.begin(), merge.end());
  return text;
}

std::string second_sum(const std::string& first_result) {
  return fmt::format("(squares + count * ((mean - {0}) * (mean - {0})))", first_result);
}

}  // namespace kw
