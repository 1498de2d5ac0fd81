#pragma once
// What a problem was read from: the text of its file, the files that this text names, and the changes that were made to
// it afterwards. Every problem that was read carries it (Problem::source). It is stored with each run, so that the
// problem can be read again on another machine or years later, where none of the files are.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"

namespace kw {

struct Problem;

namespace errc {
inline constexpr ErrorCode problem_not_stored{"problem.not_stored"};  ///< a file that it needs was too large to be kept
}  // namespace errc

/// A file that the problem's text names, such as an .npy file or one that its mods import from. `path` is as the text
/// has it.
struct SourceFile {
  std::string path;
  std::int64_t size_bytes = 0;
  Hash hash;
  std::optional<std::string> bytes;  ///< absent: too large to be kept (k_most_kept_bytes)
};
[[nodiscard]] SourceFile whole_file(std::string path, std::string_view bytes);
/// Of all files of a problem together.
inline constexpr std::int64_t k_most_kept_bytes = std::int64_t{4} << 20;

/// The function that with_mod() put into the problem.
struct SourceModule {
  std::string file;  ///< its name, for messages
  std::string text;  ///< the whole Python file
  std::string wanted;
  std::vector<SourceFile> beside;  ///< that it imports from, always with their bytes; absent in older records
};

/// One change, in the order they were made: the assignments of one call of with_axes(), or one module.
struct SourceChange {
  std::vector<std::string> axes;
  std::optional<SourceModule> module;  ///< when present, `axes` is empty
};

struct ProblemSource {
  std::string text;  ///< TOML, as it was read
  std::vector<SourceFile> files;
  std::vector<SourceChange> changes;

  /// Keeps the bytes when there is room for them.
  void add_file(std::string path, std::string_view bytes);
};

/// The problem again, with the same id() when this program reads it as the one that stored it did.
/// errc::problem_not_stored names a file that was not kept; the rest as parse_problem, with_axes and with_mod.
[[nodiscard]] Result<Problem> read_again(const ProblemSource& source);

}  // namespace kw
