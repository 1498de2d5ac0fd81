#include "loop/kept_threads.hpp"

#include <atomic>
#include <cstdint>
#include <thread>

namespace kw {

/// One thread. It is told what to do by its state, and goes through `asked` and `busy` back to `idle`.
class KeptThreads::Helper {
 public:
  Helper() {
    std::thread([this] { live(); }).detach();
  }

  void ask(const std::function<void()>& work) {
    work_ = &work;
    state_ = State::asked;
    state_.notify_all();
  }
  /// Does nothing any more if it has not begun; otherwise waits until it is done.
  void recall() {
    State expected = State::asked;
    if (!state_.compare_exchange_strong(expected, State::idle)) wait();
  }
  void wait() const {
    for (State state = state_; state != State::idle; state = state_) state_.wait(state);
  }

 private:
  enum class State : std::int32_t { idle, asked, busy };

  void live() {
    for (;;) {
      state_.wait(State::idle);
      State expected = State::asked;
      if (!state_.compare_exchange_strong(expected, State::busy)) continue;
      (*work_)();
      state_ = State::idle;
      state_.notify_all();
    }
  }

  const std::function<void()>* work_ = nullptr;
  std::atomic<State> state_ = State::idle;
};

KeptThreads& KeptThreads::all() {
  // Never destroyed: threads may wait for it until the program ends.
  static auto& threads = *new KeptThreads;
  return threads;
}

KeptThreads::Helpers KeptThreads::take(std::size_t count) {
  Helpers taken;
  {
    const std::lock_guard lock(mutex_);
    while (taken.size() < count && !idle_.empty()) {
      taken.push_back(idle_.back());
      idle_.pop_back();
    }
  }
  while (taken.size() < count) taken.push_back(new Helper);
  return taken;
}

void KeptThreads::give_back(const Helpers& helpers) {
  const std::lock_guard lock(mutex_);
  idle_.insert(idle_.end(), helpers.begin(), helpers.end());
}

void KeptThreads::run(std::size_t helpers, const std::function<void()>& work) noexcept {
  const Helpers taken = take(helpers);
  for (Helper* helper : taken) helper->ask(work);
  work();
  for (Helper* helper : taken) helper->recall();
  give_back(taken);
}

void KeptThreads::run_beside(const std::function<void()>& here, const std::function<void()>& beside) noexcept {
  const Helpers taken = take(1);
  taken.front()->ask(beside);
  here();
  taken.front()->wait();
  give_back(taken);
}

}  // namespace kw
