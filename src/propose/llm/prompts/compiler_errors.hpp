#pragma once
// The first errors of a compiler's log, with the lines of source they point to. Reads clang's form (FILE:LINE:COLUMN:
// error: ...), PoCL's (error: FILE:LINE:COLUMN: ...), and NVRTC's (FILE(LINE): error: ...). The log is untrusted text.

#include <string>
#include <string_view>
#include <vector>

#include "record/bundle.hpp"

namespace kw {

struct CompilerError {
  int line = 0;      ///< of the source as it was compiled, which is the bundle's below its header; counts from 1
  int column = 0;    ///< 0: not said
  std::string text;  ///< "use of undeclared identifier 'foo'", on one line, bounded
};

/// At most `most`, in the log's order, one per line of source. Errors that name no line are left out.
[[nodiscard]] std::vector<CompilerError> first_compiler_errors(std::string_view log, std::size_t most);

/// Lines in front of the source in Bundle::to_text.
[[nodiscard]] int header_lines(const Bundle& bundle);

/// Each error with the line it points to and its neighbours, as "  12 [40] | code". Lines past the source's end are
/// named, not shown. Plain text, not fenced.
[[nodiscard]] std::string quote_errors(const Bundle& bundle, const std::vector<CompilerError>& errors);

}  // namespace kw
