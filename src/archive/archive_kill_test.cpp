// kill -9 at random instants: whatever append() acknowledged is there afterwards, and nothing is there by halves.

#include <sys/wait.h>

#include <csignal>

#include "archive/testing/test_support.hpp"
#include "base/unique_fd.hpp"

namespace kw {
namespace {

constexpr int k_rounds = 20;
constexpr const char* k_run = "4f1c0a9be27d3356";

Attempt attempt_number(std::int64_t ordinal) {
  Attempt attempt = synthetic_run(static_cast<std::uint64_t>(ordinal), 1).attempts.at(0);
  attempt.ordinal = ordinal;
  attempt.candidate.bundle.source += fmt::format("// {}\n", ordinal % 7);
  attempt.build.log.assign(static_cast<std::size_t>(ordinal % 5) * 3000, 'w');
  return attempt;
}

/// Appends until it is killed; every acknowledged ordinal goes through the pipe.
[[noreturn]] void append_forever(const std::filesystem::path& file, std::int64_t next, int acknowledge) {
  const auto archive = open_archive(file);
  if (!archive) ::_exit(2);
  for (;; ++next) {
    if (!(*archive)->append(k_run, attempt_number(next))) ::_exit(3);
    if (::write(acknowledge, &next, sizeof next) != sizeof next) ::_exit(4);
  }
}

/// Reads acknowledged ordinals until the writer has been killed; it is, after `alive` acknowledgements and a moment.
std::int64_t kill_after(pid_t child, int acknowledged, std::int64_t alive, int moment_us, std::int64_t last) {
  std::int64_t ordinal = 0;
  while (::read(acknowledged, &ordinal, sizeof ordinal) == sizeof ordinal) {
    last = ordinal;
    if (--alive != 0) continue;
    timespec moment{0, moment_us * 1000L};
    ::nanosleep(&moment, nullptr);  // not to wait for anything: it chooses the instant of death
    ::kill(child, SIGKILL);
  }
  return last;
}

class ArchiveKillTest : public ArchiveTest {
 protected:
  /// One writer's life; the last ordinal it acknowledged, or `last`.
  std::int64_t round(std::int64_t next, Rng& rng) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) append_forever(file_, next, write_end.get());
    write_end.reset();
    const auto alive = 1 + rng.below(12);
    const auto last = kill_after(child, read_end.get(), alive, static_cast<int>(rng.below(3000)), next - 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the writer ended by itself: " << status;
    return last;
  }
};

TEST_F(ArchiveKillTest, everything_acknowledged_before_a_kill_is_there_and_nothing_by_halves) {
  const auto seed = static_cast<std::uint64_t>(::getpid());
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Rng rng(seed);
  ASSERT_TRUE(open()->begin_run(synthetic::run(1)));
  std::int64_t count = 0;
  for (int i = 0; i < k_rounds; ++i) {
    const std::int64_t last = round(count, rng);
    const auto archive = open();
    const auto stored = archive->attempts(k_run);
    ASSERT_TRUE(stored) << stored.error().to_string();
    const auto found = static_cast<std::int64_t>(stored->size());
    ASSERT_GE(found, last + 1) << "round " << i << ": an acknowledged attempt is lost";
    ASSERT_LE(found, last + 2) << "round " << i << ": more than the one attempt in flight";
    for (std::int64_t j = count; j < found; ++j) {
      ASSERT_EQ(encode((*stored)[static_cast<std::size_t>(j)]), encode(attempt_number(j))) << "round " << i;
    }
    ASSERT_TRUE(archive->append(k_run, attempt_number(found - 1))) << "resuming may repeat the last one";
    count = found;
  }
  EXPECT_GE(count, k_rounds);
}

}  // namespace
}  // namespace kw
