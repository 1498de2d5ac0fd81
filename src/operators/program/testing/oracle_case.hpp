#pragma once
// Answers of the oracle for modules of one line, on numbers that are easy to make elsewhere.

#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

#include "operators/program/oracle/oracle.hpp"
#include "program/graph/graph.hpp"

namespace kw::program_oracle_test {

inline constexpr double k_inf = std::numeric_limits<double>::infinity();
inline constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();

/// `forward` is an expression of x, of y (the second input) and of more (the list from the second input on), or
/// statements that end with a return.
struct OracleCase {
  const char* forward = "";
  const char* inputs = "";            ///< of get_inputs(), as for module_text()
  std::vector<double> expected = {};  ///< of all results, one after the other
};
void PrintTo(const OracleCase& one, std::ostream* out);

/// Reads the module; a test that gives a text that is refused fails.
[[nodiscard]] Program program_of(const std::string& forward, const std::string& inputs,
                                 const std::string& init = "pass");

/// Element i of leaf k (inputs in their order, then parameters that are read, but for
/// tensors of numbers in the text, which have those): (i * 7 + k) % 3 of integers, whether
/// that is 0 of booleans; (n - 8) / 4 with n = (i * 37 + k * 11) % 17 of floats, (n + 1) / 8 of those that were written
/// as torch.rand(...) + 1, and (n + 1) / 18, between 0 and 1, of torch.rand(...) + 2.
[[nodiscard]] std::map<std::size_t, DenseTensor> leaves_of(const Program& program);

/// All results are what the case expects, to 1e-9; and each element on demand is what it is in the whole answer.
void expect_answer(const OracleCase& one);

/// Each element of all outputs on demand, and the same from whole tensors.
void expect_elements_are_those_of_the_whole(const Program& program, const std::map<std::size_t, DenseTensor>& leaves);

}  // namespace kw::program_oracle_test
