#include <algorithm>

#include "base/file_system.hpp"
#include "problem/file/problem_mod.hpp"
#include "problem/problem.hpp"
#include "problem/source.hpp"

namespace kw {
namespace {

/// The files of a source, for reading alone.
class StoredFiles final : public FileSystem {
 public:
  explicit StoredFiles(const std::vector<SourceFile>& files) : files_(files) {}

  [[nodiscard]] Result<std::string> read(const std::filesystem::path& path, std::int64_t max_bytes) const override {
    const SourceFile* const file = find(path);
    if (file == nullptr) return fail(errc::not_found, "{} was not stored", path.string());
    if (!file->bytes) {
      return fail(
          Error{errc::problem_not_stored,
                fmt::format("{} was too large to be stored with the problem: {} bytes", file->path, file->size_bytes),
                fmt::format("read the problem from its own folder; the file's SHA-256 is {}", file->hash.hex())});
    }
    if (file->size_bytes > max_bytes) return fail(errc::too_large, "{} is larger than {} bytes", file->path, max_bytes);
    return *file->bytes;
  }
  [[nodiscard]] Result<void> write_atomic(const std::filesystem::path& path, std::string_view) override {
    return refused(path);
  }
  [[nodiscard]] Result<void> create_directories(const std::filesystem::path& path) override { return refused(path); }
  [[nodiscard]] bool exists(const std::filesystem::path& path) const override { return find(path) != nullptr; }

 private:
  [[nodiscard]] const SourceFile* find(const std::filesystem::path& path) const {
    const auto found =
        std::find_if(files_.begin(), files_.end(), [&](const SourceFile& file) { return file.path == path.string(); });
    return found == files_.end() ? nullptr : &*found;
  }
  [[nodiscard]] static Result<void> refused(const std::filesystem::path& path) {
    return fail(errc::io, "{}: stored files are only read", path.string());
  }

  const std::vector<SourceFile>& files_;
};

}  // namespace

SourceFile whole_file(std::string path, std::string_view bytes) {
  return {std::move(path), static_cast<std::int64_t>(bytes.size()), hash_bytes(bytes), std::string(bytes)};
}

void ProblemSource::add_file(std::string path, std::string_view bytes) {
  const auto named = [&](const SourceFile& file) { return file.path == path; };
  if (std::any_of(files.begin(), files.end(), named)) return;
  std::int64_t kept = 0;
  for (const auto& file : files) kept += file.bytes ? file.size_bytes : 0;
  auto file = whole_file(std::move(path), bytes);
  if (file.size_bytes > k_most_kept_bytes - kept) file.bytes.reset();
  files.push_back(std::move(file));
}

Result<Problem> read_again(const ProblemSource& source) {
  const StoredFiles files(source.files);
  KW_TRY(auto problem, parse_problem(source.text, "the stored problem", &files));
  for (const auto& change : source.changes) {
    if (change.module) {
      const auto& module = *change.module;
      const StoredFiles beside(module.beside);
      KW_TRY(problem, with_mod(std::move(problem), module.text, module.file, module.wanted, &beside));
    } else {
      KW_TRY(problem, with_axes(std::move(problem), change.axes));
    }
  }
  return problem;
}

}  // namespace kw
