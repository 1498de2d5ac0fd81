// The hostile program: `hostile_program [restricted] [locked|locked_for_gpu|locked_for_kernel] ACT [ARGUMENTS]`. With
// "locked" it calls lock_down() first; "_for_gpu" leaves a driver its device nodes, "_for_kernel" is what a loaded
// kernel has: arena() and descriptor 3; with "restricted" restrict_own_paths(). Exit status 0 after the act, 2 for an
// unknown one.

#include <cerrno>
#include <cstring>
#include <future>
#include <string>
#include <thread>

#include "acts.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/frame_channel.hpp"
#include "sandbox/heap_reserve.hpp"
#include "sandbox/sandbox.hpp"

namespace kw::hostile {

std::string error_name(int error) {
  const char* name = ::strerrorname_np(error);
  return name == nullptr ? std::to_string(error) : name;
}

std::string outcome(bool succeeded) {
  return succeeded ? "done" : error_name(errno);
}

void report(std::string_view text) {
  // For as long as the process lives: a second descriptor is more than a locked kernel may have, and one that is closed
  // while the program still ends has its host kill what would have ended with a status of its own.
  static FrameChannel& channel = *new FrameChannel(UniqueFd(3));
  if (!channel.send(text, std::chrono::seconds(5))) ::_exit(3);
}

namespace {

const Act* find(std::string_view name) {
  for (const auto acts :
       {life_acts(), process_acts(), memory_acts(), file_acts(), inheritance_acts(), code_acts(), other_acts()}) {
    for (const Act& act : acts) {
      if (act.name == name) return &act;
    }
  }
  return nullptr;
}

// Lock-down has to reach threads that exist already, as a driver's do, so the act is done on one of them. It runs
// before anything is locked: a sanitizer gives each thread that begins a signal stack, which a locked kernel may not
// have.
template <typename LockDown>
void act_on_older_thread(const Act& act, const Arguments& arguments, const LockDown& lock) {
  std::promise<void> runs;
  std::promise<void> locked;
  std::thread older([&] {
    runs.set_value();
    locked.get_future().wait();
    report(act.run(arguments));
    ::_exit(0);  // a kernel's thread may not end alone
  });
  runs.get_future().wait();
  if (const auto done = lock(); !done) {
    report(done.error().to_string());
    ::_exit(1);
  }
  locked.set_value();
  older.join();
}

}  // namespace
}  // namespace kw::hostile

int main(int argc, char** argv) {
  using namespace kw::hostile;
  Arguments arguments(argv + 1, argv + argc);
  if (arguments == Arguments{"--probe"}) return kw::run_probe_child();
  if (!arguments.empty() && arguments[0] == "restricted") {
    arguments.erase(arguments.begin());
    if (!kw::restrict_own_paths({})) return 1;
  }
  const bool for_gpu = !arguments.empty() && arguments[0] == "locked_for_gpu";
  const bool for_kernel = !arguments.empty() && arguments[0] == "locked_for_kernel";
  if (for_kernel) kw::keep_one_heap();
  const bool locked = for_gpu || for_kernel || (!arguments.empty() && arguments[0] == "locked");
  if (locked) arguments.erase(arguments.begin());
  const Act* act = arguments.empty() ? nullptr : find(arguments[0]);
  if (act == nullptr) return 2;
  arguments.erase(arguments.begin());
  if (locked) {
    act_on_older_thread(*act, arguments, [&] {
      if (for_kernel) return kw::lock_down_for_kernels({3, arena()});
      return kw::lock_down(for_gpu ? kw::OpenForWriting::as_granted : kw::OpenForWriting::never);
    });
  } else {
    report(act->run(arguments));
  }
  return 0;
}
