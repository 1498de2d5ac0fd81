#include "cli/stop_signals.hpp"

#include <array>
#include <csignal>

namespace kw {
namespace {

/// Signal handlers can reach nothing but globals; this one is written by the handler and read by the loop.
std::atomic<bool> stop_requested{false};

constexpr std::array k_stop_signals{SIGINT, SIGTERM, SIGHUP};

extern "C" void on_interrupt(int) {
  stop_requested = true;
  for (const int signal : k_stop_signals) std::signal(signal, SIG_DFL);
}

}  // namespace

const std::atomic<bool>& watch_stop_signals() {
  for (const int signal : k_stop_signals) {
    const auto before = std::signal(signal, on_interrupt);
    // Under nohup a run outlives its terminal.
    if (signal == SIGHUP && before == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  return stop_requested;
}

}  // namespace kw
