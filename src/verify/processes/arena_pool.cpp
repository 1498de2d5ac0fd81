#include "verify/processes/arena_pool.hpp"

#include <algorithm>
#include <utility>

namespace kw {

void ArenaPool::put(Arena arena) {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = arena.bytes().size();
  for (const Arena& kept : arenas_) bytes += kept.bytes().size();
  if (arena.bytes().empty() || bytes > static_cast<std::size_t>(most_bytes_)) return;
  arenas_.push_back(std::move(arena));
}

std::optional<Arena> ArenaPool::take(std::int64_t least_bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(arenas_, [&](const Arena& kept) {
    return kept.bytes().size() >= static_cast<std::size_t>(std::max<std::int64_t>(least_bytes, 1));
  });
  if (found == arenas_.end()) return std::nullopt;
  std::optional<Arena> taken(std::move(*found));
  std::swap(*found, arenas_.back());
  arenas_.pop_back();
  return taken;
}

}  // namespace kw
