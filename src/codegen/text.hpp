#pragma once
// Small tools for building source text: templates with ${name} holes, indentation, and user text made safe to stand in
// a comment. Pure functions; nothing here knows about kernels.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kw {

/// What fills a template's holes, by name.
using Fillings = std::vector<std::pair<std::string_view, std::string>>;

/// Replaces every ${name}. A filling that is empty and alone on its line removes the line; one of several lines keeps
/// the hole's indentation on each. A hole without a filling is a defect of the caller and aborts.
[[nodiscard]] std::string fill(std::string_view text, const Fillings& fillings);

/// The same without the end of the last line, to fill a hole with: the line of the hole ends itself.
[[nodiscard]] std::string fill_lines(std::string_view text, const Fillings& fillings = {});

/// Lines joined with '\n', without one at the end.
[[nodiscard]] std::string join_lines(const std::vector<std::string>& lines);

/// `opening` and the items up to a closing parenthesis, broken into lines of at most `columns` that continue under
/// the first item.
[[nodiscard]] std::string parameter_list(const std::string& opening, const std::vector<std::string>& items,
                                         std::size_t columns = 110);

/// A statement of more than `columns`, broken behind commas and operators into lines that are indented once more; or a
/// line of comment, broken between words.
[[nodiscard]] std::string broken_statement(const std::string& statement, std::size_t columns = 108);

/// Without the parentheses around the whole of it, where something else already sets it apart.
[[nodiscard]] std::string without_parentheses(const std::string& text);

/// Each line of `text` as a `//` comment. The text is the user's: anything that could end the comment early or reach
/// the compiler (line splices, trigraphs, control and non-ASCII characters) is made harmless.
[[nodiscard]] std::string as_comment(std::string_view text);

/// A float literal of OpenCL C or CUDA C that reads back as the float nearest to `value`; INFINITY and NAN by name,
/// negative values in parentheses.
[[nodiscard]] std::string float_literal(double value);

/// A 32-bit int literal; the value wraps as the device's int would.
[[nodiscard]] std::string int_literal(long long value);

}  // namespace kw
