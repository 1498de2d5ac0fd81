#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <span>

#include "base/text.hpp"
#include "device/cuda/fills.hpp"
#include "device/cuda/loaded.hpp"

namespace kw::cuda {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr unsigned k_wait_until_equal = 1;
/// A stream holds about a thousand commands; more would block the host before it opens the gate.
constexpr std::size_t k_most_gated_launches = 256;
/// A cold launch comes after at least this much work: clocks fall while data are uploaded.
constexpr double k_warm_up_seconds = 2e-3;
constexpr int k_most_flushes = 64;
/// By how much two clocks may differ: the resolution of events is half a microsecond, and both drift a little.
constexpr double k_clock_slack = 1.02;
constexpr double k_clock_slack_ns = 20e3;

void open_gate(const Session& session) {
  if (session.gate != nullptr) *session.gate = session.gate_turn;
}

/// Most errors of a kernel stay in the context for good; those that do are remembered. Finding out means waiting, and
/// nothing must wait behind a closed gate.
Result<void> failed_in(Session& session, Status status, const std::string& what) {
  open_gate(session);
  const Status lasting = session.api.synchronise_context();
  const std::string text = fmt::format("{} failed with {}", what, status_text(session.api, status));
  if (lasting != 0) session.lost = text;
  return fail(errc::device_refused, "{}", text);
}

Result<void> must(Session& session, Status status, const std::string& what) {
  return status == 0 ? Result<void>{} : failed_in(session, status, what);
}

int flushes(const Session& session) {
  const double rate = session.facts.peak_bytes;
  if (rate <= 0) return 1;
  const double each = static_cast<double>(session.flush_bytes) / rate;
  return std::clamp(static_cast<int>(std::ceil(k_warm_up_seconds / each)), 1, k_most_flushes);
}

/// Lines that a kernel asked the cache to keep go first; then twice its size is written.
Result<void> flush_cache(Session& session) {
  const DriverApi& api = session.api;
  if (session.flush == 0) return {};
  if (api.reset_persisting_l2 != nullptr) {
    KW_TRY_VOID(must(session, api.reset_persisting_l2(), "cuCtxResetPersistingL2Cache"));
  }
  for (int i = flushes(session); i > 0; --i) {
    KW_TRY_VOID(must(session, api.fill_words(session.flush, 0, session.flush_bytes / 4, session.stream),
                     "cuMemsetD32Async to flush the cache"));
  }
  return {};
}

/// Opens itself when it goes, so that nobody waits for a turn that never comes.
class Gate {
 public:
  explicit Gate(Session& session) : session_(session) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { open(); }

  Result<void> close() {
    ++session_.gate_turn;
    return must(session_,
                session_.api.wait_value(session_.stream, session_.gate_address, session_.gate_turn, k_wait_until_equal),
                "cuStreamWaitValue32");
  }
  void open() { open_gate(session_); }

 private:
  Session& session_;
};

Result<void> queue_launch(Session& session, const ReadyLaunch& one) {
  std::vector<void*> arguments;
  for (const std::uint64_t& value : one.values) arguments.push_back(const_cast<std::uint64_t*>(&value));
  const Status status =
      session.api.launch(one.function, one.grid[0], one.grid[1], one.grid[2], one.block[0], one.block[1], one.block[2],
                         one.dynamic_shared_bytes, session.stream, arguments.data(), nullptr);
  return must(session, status, fmt::format("cuLaunchKernel({})", one.kernel));
}

Result<void> queue_plan(Session& session, const ReadyPlan& plan) {
  KW_TRY_VOID(must(session, session.api.record_event(session.begin, session.stream), "cuEventRecord"));
  for (const ReadyLaunch& one : plan.launches) KW_TRY_VOID(queue_launch(session, one));
  return must(session, session.api.record_event(session.end, session.stream), "cuEventRecord");
}

bool gated(const Session& session, const ReadyPlan& plan) {
  return session.gate != nullptr && !session.watched && plan.launches.size() <= k_most_gated_launches;
}

/// Maps the pages that outputs come back to, which else fault one by one within the driver's copy: it took 0.19 to 0.30
/// s for 537 MB, and 0.04 s where they were mapped (H100, 2026-11-28). Nothing depends on it.
void map_pages(std::span<const Mirror> mirrors) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (const Mirror& mirror : mirrors) {
    const auto begin = reinterpret_cast<std::uintptr_t>(mirror.host.data()) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(mirror.host.data() + mirror.host.size());
    static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE));
  }
}

/// Nanoseconds by the device's clock. The pages of `mapped` are mapped while the device is at work.
Result<double> run(Session& session, const ReadyPlan& plan, std::span<const Mirror> mapped) {
  const DriverApi& api = session.api;
  Gate gate(session);
  auto begin = SteadyClock::now();
  if (gated(session, plan)) KW_TRY_VOID(gate.close());
  KW_TRY_VOID(queue_plan(session, plan));
  // Behind a gate nothing has begun yet; without one the device is at work since the first launch.
  if (gated(session, plan)) begin = SteadyClock::now();
  gate.open();
  map_pages(mapped);
  KW_TRY_VOID(must(session, api.synchronise_stream(session.stream),
                   "running " + join(plan.launches, ", ", &ReadyLaunch::kernel)));
  const std::chrono::duration<double, std::nano> seen = SteadyClock::now() - begin;
  KW_TRY_VOID(must(session, api.synchronise_context(), "running " + join(plan.launches, ", ", &ReadyLaunch::kernel)));
  float milliseconds = 0;
  KW_TRY_VOID(must(session, api.elapsed_ms(&milliseconds, session.begin, session.end), "cuEventElapsedTime"));
  const double nanoseconds = static_cast<double>(milliseconds) * 1e6;
  if (!session.watched && nanoseconds > seen.count() * k_clock_slack + k_clock_slack_ns) {
    return fail(errc::device_refused, "the device's clock says {:.0f} ns, the host's {:.0f}: one of them is wrong",
                nanoseconds, seen.count());
  }
  return nanoseconds;
}

}  // namespace

Result<LaunchReply> launch(Session& session, const ReadyPlan& plan, const LaunchRequest& request) {
  const DriverApi& api = session.api;
  if (!session.lost.empty()) {
    return fail(errc::device_refused, "the GPU's context was lost by an earlier launch: {}", session.lost);
  }
  KW_TRY_VOID(fill_buffers(session, plan, request.fills));
  KW_TRY(std::vector<Mirror> back, parts_to_return(plan, request));
  const std::vector<Mirror> copied = left_to_copy(plan, request.fills);
  for (const Mirror& mirror : copied) {
    KW_TRY_VOID(must(session, api.upload(mirror.device, mirror.host.data(), mirror.host.size()), "cuMemcpyHtoD"));
  }
  if (request.cold) KW_TRY_VOID(flush_cache(session));
  // The upload may still be on its way, on a stream that ours does not wait for; and what was queued so far is no part
  // of what the host's clock is to see.
  KW_TRY_VOID(must(session, api.synchronise_context(), "cuCtxSynchronize"));
  // Beside a launch that is timed the host does nothing.
  KW_TRY(const double nanoseconds, run(session, plan, request.cold ? std::span<const Mirror>() : back));
  back.insert(back.end(), copied.begin(), copied.end());
  for (const Mirror& mirror : back) {
    KW_TRY_VOID(must(session, api.download(mirror.host.data(), mirror.device, mirror.host.size()), "cuMemcpyDtoH"));
  }
  KW_TRY(std::vector<std::int64_t> changed, changed_buffers(session, plan, request.fills));
  KW_TRY(std::vector<UselessElements> useless, useless_elements(session, plan, request));
  LaunchReply reply{std::max<std::int64_t>(1, std::llround(nanoseconds)), std::move(changed), std::move(useless)};
  reply.queued_ahead = gated(session, plan);
  return reply;
}

}  // namespace kw::cuda
