#include "verify/processes/build_cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file_system.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

/// Of an entry: its hash and the answer. Another number forgets all that was kept before.
constexpr std::int64_t k_entry_format = 1;
constexpr const char* k_extension = ".build";
/// A hash as bytes stands before the answer.
constexpr std::size_t k_hash_bytes = sizeof(Hash::bytes);

std::string bytes_of(const Hash& hash) {
  return {hash.bytes.begin(), hash.bytes.end()};
}

struct Entry {
  fs::path path;
  std::int64_t bytes = 0;
  fs::file_time_type used;
};

/// What cannot be asked was just removed by another program.
std::vector<Entry> entries_of(const fs::path& directory) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (entry->path().extension() != k_extension) continue;
    const auto bytes = static_cast<std::int64_t>(entry->file_size(gone));
    const auto used = gone ? fs::file_time_type() : entry->last_write_time(gone);
    if (!gone) entries.push_back({entry->path(), bytes, used});
  }
  return entries;
}

std::int64_t bytes_in(const std::vector<Entry>& entries) {
  std::int64_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.bytes;
  return bytes;
}

/// Nobody sees half of it: until it is whole it has another name, by which it goes in its turn where this program ends
/// before. It is not forced to the disk, since what a loss of power leaves of it is recognised.
bool write_whole(const fs::path& path, std::string_view bytes) {
  static std::atomic<int> next = 0;
  fs::path temporary = path;
  temporary.replace_extension(fmt::format(".{}.{}{}", ::getpid(), next++, k_extension));
  std::error_code error;
  std::ofstream file(temporary, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) fs::rename(temporary, path, error);
  if (file && !error) return true;
  fs::remove(temporary, error);
  return false;
}

/// A folder that others may write could hold their builds.
bool is_ours(const fs::path& directory) {
  struct stat status {};
  return ::stat(directory.c_str(), &status) == 0 && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool make_ours(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory.parent_path(), error);
  ::mkdir(directory.c_str(), S_IRWXU);  // one that is there is looked at
  return is_ours(directory);
}

}  // namespace

BuildCache::BuildCache(fs::path directory, std::string compiler, std::shared_future<Hash> toolchain,
                       std::int64_t most_bytes)
    : directory_(std::move(directory)),
      compiler_(std::move(compiler)),
      toolchain_(std::move(toolchain)),
      most_bytes_(most_bytes) {}

fs::path BuildCache::place_of(const BuildRequest& request) const {
  Hasher hasher;
  hasher.add(k_entry_format).add(bytes_of(toolchain_.get())).add(compiler_).add(encode(HostMessage(request)));
  return directory_ / (hasher.finish().hex() + k_extension);
}

std::optional<BuildReply> BuildCache::find(const BuildRequest& request) {
  if (!is_ours(directory_)) return std::nullopt;
  const fs::path place = place_of(request);
  const auto text = RealFileSystem().read(place, k_max_frame_bytes + std::ssize(Hash().bytes));
  if (!text || text->size() < k_hash_bytes) return std::nullopt;
  const std::string_view answer = std::string_view(*text).substr(k_hash_bytes);
  if (!text->starts_with(bytes_of(hash_bytes(answer)))) return std::nullopt;
  auto message = decode_worker_message(answer);
  auto* reply = message ? std::get_if<BuildReply>(&*message) : nullptr;
  if (reply == nullptr || reply->status != BuildStatus::ok) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(place, fs::file_time_type::clock::now(), ignored);
  const Hash binary = hash_bytes(reply->binary);
  const std::lock_guard lock(mutex_);
  given_[binary] = place;
  ++found_;
  return std::move(*reply);
}

void BuildCache::keep(const BuildRequest& request, const BuildReply& reply) {
  if (!make_ours(directory_)) return;
  const std::string answer = encode(WorkerMessage(reply));
  const std::string text = bytes_of(hash_bytes(answer)) + answer;
  if (write_whole(place_of(request), text)) make_room(std::ssize(text));
}

void BuildCache::make_room(std::int64_t added) {
  const std::lock_guard lock(mutex_);
  if (bytes_) *bytes_ += added;
  if (bytes_ && *bytes_ <= most_bytes_) return;
  auto entries = entries_of(directory_);
  bytes_ = bytes_in(entries);
  if (*bytes_ <= most_bytes_) return;
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (*bytes_ <= most_bytes_ - most_bytes_ / 4) break;
    std::error_code gone;
    fs::remove(entry.path, gone);
    *bytes_ -= entry.bytes;
  }
}

void BuildCache::forget(std::span<const std::string> binaries) {
  const std::lock_guard lock(mutex_);
  for (const std::string& binary : binaries) {
    const auto given = given_.find(hash_bytes(binary));
    if (given == given_.end()) continue;
    std::error_code gone;
    fs::remove(given->second, gone);
    given_.erase(given);
  }
}

std::int64_t BuildCache::found() const {
  const std::lock_guard lock(mutex_);
  return found_;
}

BuildCacheSize size_of_build_cache(const fs::path& directory) {
  const auto entries = entries_of(directory);
  return {std::ssize(entries), bytes_in(entries)};
}

}  // namespace kw
