#pragma once
// The files tests/errors/THEME.case: inputs that are refused, each with the text that is printed.
//
//     # why this file is here
//
//     mask no_operand               or `score`, `problem` or `module` and a name
//       lambda b, h, q, k: q >=
//     =>
//       mask.py:1:24: expected a value, but the text ends [mod.syntax]
//
// The input is indented by two spaces and ends at `=>`. A comment stands between two cases. Nothing after `=>` is right
// for a new case: KW_ACCEPT=1 fills it in.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw::error_cases {

inline constexpr ErrorCode k_case_file{"test.case_file"};

struct ErrorCase {
  std::string kind;      ///< "mask", "score", "problem" or "module"
  std::string name;      ///< small letters, digits and underscores; once per file
  std::string input;     ///< whole lines
  std::string expected;  ///< whole lines
  /// Of the expected text in the file, both from 0: its first line, and the one behind its last.
  std::size_t expected_begin = 0;
  std::size_t expected_end = 0;
};

/// Errors: k_case_file with `file` and the line, for whatever is not in the form above and for a file without a case.
[[nodiscard]] Result<std::vector<ErrorCase>> parse_case_file(std::string_view text, const std::string& file);

/// The same file with another expected text for one case, which it must hold.
[[nodiscard]] Result<std::string> with_expected(std::string_view text, const std::string& file, std::string_view name,
                                                std::string_view expected);

}  // namespace kw::error_cases
