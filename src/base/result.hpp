#pragma once
// Errors as values. Every function that can fail for a reason outside the program (bad input, a full disk, a dead
// process) returns Result<T>; exceptions do not cross our function boundaries. A rejected candidate is not an error but
// a Verdict (record/verdict.hpp). Broken invariants abort through KW_CHECK.

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace kw {

/// What the process exit code says about an error; `kernelwright --help` and docs/formats.md list them.
enum class ExitClass : int {
  usage = 2,        ///< the command line or an input file is wrong; the user can fix it
  environment = 3,  ///< the machine lacks something: a device, a driver, disk space, a permission
  internal = 4,     ///< a defect of ours, or a stored file that is damaged
};

/// A stable, dotted name for a kind of error, such as "mod.unknown_call". Each layer declares its closed list as
/// `inline constexpr ErrorCode` in one header; tests compare codes, users may search for them.
struct ErrorCode {
  std::string_view name;
  ExitClass exit_class = ExitClass::usage;
  friend bool operator==(const ErrorCode& a, const ErrorCode& b) { return a.name == b.name; }
};

/// Where in an input an error sits. Line and column count from 1; 0 means "not known".
struct SourcePlace {
  std::string file;
  int line = 0;
  int column = 0;
};

/// What went wrong, where, and what to try. `message` is a sentence for a person; `hint` says what to write or run
/// instead; `context` holds what the callers were doing, innermost first.
struct Error {
  ErrorCode code;
  std::string message;
  std::string hint = {};
  SourcePlace where = {};
  std::vector<std::string> context = {};

  /// "file:line:column: message [code]\n  while ...\n  try: hint", parts left out when empty.
  [[nodiscard]] std::string to_string() const;
};

template <typename T>
using Result = tl::expected<T, Error>;

/// `return fail(errc::io, "cannot read {}", path);`
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(text, std::forward<Args>(args)...)});
}
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

/// The same for what stands at a place of an input.
[[nodiscard]] inline tl::unexpected<Error> fail_at(ErrorCode code, const SourcePlace& where, std::string message,
                                                   std::string hint = {}) {
  return fail(Error{code, std::move(message), std::move(hint), where});
}

/// Adds what the caller was doing; used when an error crosses a layer.
[[nodiscard]] inline tl::unexpected<Error> with_context(Error error, std::string doing) {
  error.context.push_back(std::move(doing));
  return tl::unexpected<Error>(std::move(error));
}

/// Codes of the base layer.
namespace errc {
inline constexpr ErrorCode io{"base.io", ExitClass::environment};
inline constexpr ErrorCode not_found{"base.not_found", ExitClass::usage};
inline constexpr ErrorCode disk_full{"base.disk_full", ExitClass::environment};
inline constexpr ErrorCode overflow{"base.overflow", ExitClass::usage};
inline constexpr ErrorCode too_large{"base.too_large", ExitClass::usage};
}  // namespace errc

[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& detail);

}  // namespace kw

#define KW_CONCAT_INNER(a, b) a##b
#define KW_CONCAT(a, b) KW_CONCAT_INNER(a, b)

#define KW_TRY_IMPL(holder, declaration, expression)               \
  auto holder = (expression);                                      \
  if (!holder) return ::tl::unexpected(std::move(holder).error()); \
  declaration = *std::move(holder)
/// KW_TRY(auto x, f()); passes f's error up, or declares x with its value.
#define KW_TRY(declaration, expression) KW_TRY_IMPL(KW_CONCAT(kw_try_, __LINE__), declaration, expression)
/// The same for Result<void>.
#define KW_TRY_VOID(expression)                                                                                 \
  do {                                                                                                          \
    if (auto kw_try_void = (expression); !kw_try_void) return ::tl::unexpected(std::move(kw_try_void).error()); \
  } while (false)
/// Aborts with file, line and values when an invariant of ours is broken. Never reachable from input bytes.
#define KW_CHECK(condition, ...)                                                                         \
  do {                                                                                                   \
    if (!(condition)) ::kw::check_failed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
  } while (false)
