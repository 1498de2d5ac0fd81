#include "device/cuda/session.hpp"

namespace kw::cuda {
namespace {

constexpr unsigned k_stream_non_blocking = 1;
constexpr unsigned k_event_default = 0;
constexpr unsigned k_host_mapped = 2;

/// Leaves the gate null where the driver lacks what it needs: then launches are timed without it.
void make_gate(Session& session) {
  if (session.api.wait_value == nullptr) return;
  void* word = nullptr;
  if (session.api.allocate_host(&word, sizeof(std::uint32_t), k_host_mapped) != 0) return;
  if (session.api.host_address(&session.gate_address, word, 0) != 0) return;
  session.gate = static_cast<volatile std::uint32_t*>(word);
  *session.gate = 0;
}

}  // namespace

Result<Session> open_session(const DriverApi& api, DeviceOrdinal device, DeviceFacts facts) {
  Session session;
  session.api = api;
  session.facts = std::move(facts);
  Context context = nullptr;
  KW_TRY_VOID(check(api, api.retain_context(&context, device), "cuDevicePrimaryCtxRetain"));
  KW_TRY_VOID(check(api, api.set_context(context), "cuCtxSetCurrent"));
  KW_TRY_VOID(check(api, api.create_stream(&session.stream, k_stream_non_blocking), "cuStreamCreate"));
  KW_TRY_VOID(check(api, api.create_event(&session.begin, k_event_default), "cuEventCreate"));
  KW_TRY_VOID(check(api, api.create_event(&session.end, k_event_default), "cuEventCreate"));
  if (session.facts.last_level_cache_bytes > 0) {
    session.flush_bytes = static_cast<std::size_t>(2 * session.facts.last_level_cache_bytes);
    KW_TRY_VOID(check(api, api.allocate(&session.flush, session.flush_bytes), "cuMemAlloc to flush the cache"));
  }
  make_gate(session);
  return session;
}

}  // namespace kw::cuda
