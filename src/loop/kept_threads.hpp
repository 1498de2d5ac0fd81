#pragma once
// Threads that are kept for the next call. One draw of data for a timed launch and its judging make a dozen calls of
// some milliseconds each, and a thread takes tens of microseconds to make, longer where others make some.

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

namespace kw {

/// As many as were busy at the same time at most; none of them ends before the program does.
class KeptThreads {
 public:
  /// The program's.
  [[nodiscard]] static KeptThreads& all();

  /// Calls `work` on this thread and on up to `helpers` others at the same time, and returns when nobody is in it. A
  /// helper that has not begun when this thread comes back does not begin any more. The program ends where `work`
  /// throws.
  void run(std::size_t helpers, const std::function<void()>& work) noexcept;
  /// Calls `here` on this thread and `beside` on another.
  void run_beside(const std::function<void()>& here, const std::function<void()>& beside) noexcept;

 private:
  class Helper;
  using Helpers = std::vector<Helper*>;  ///< never destroyed: a thread waits in each

  [[nodiscard]] Helpers take(std::size_t count);
  void give_back(const Helpers& helpers);

  std::mutex mutex_;
  Helpers idle_;
};

}  // namespace kw
