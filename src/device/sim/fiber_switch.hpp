#pragma once
// Switching between fibers, and telling the sanitizers that kernelwright itself may be built with which stack is in
// use. In other builds it is the bare switch.

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#if defined(KW_SANITIZE_ADDRESS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(KW_SANITIZE_THREAD)
#include <sanitizer/tsan_interface.h>
#endif

namespace kw::sim {

/// One side of a switch: a fiber, or the host thread that runs them.
struct FiberContext {
  boost::context::detail::fcontext_t context = nullptr;
  const void* stack = nullptr;  ///< lowest address
  std::size_t stack_bytes = 0;
  void* sanitizer = nullptr;  ///< what the sanitizer remembers of it
};

/// The calling host thread.
inline void adopt_thread([[maybe_unused]] FiberContext& thread) {
#if defined(KW_SANITIZE_THREAD)
  thread.sanitizer = __tsan_get_current_fiber();
#endif
}

/// A new fiber on a stack; the first switch to it calls `entry`, which has to call arrive() first.
inline void make_fiber(FiberContext& fiber, std::byte* top, std::size_t bytes,
                       void (*entry)(boost::context::detail::transfer_t)) {
  fiber.context = boost::context::detail::make_fcontext(top, bytes, entry);
  fiber.stack = top - bytes;
  fiber.stack_bytes = bytes;
#if defined(KW_SANITIZE_ADDRESS)
  __asan_unpoison_memory_region(fiber.stack, bytes);
  fiber.sanitizer = nullptr;
#elif defined(KW_SANITIZE_THREAD)
  if (fiber.sanitizer == nullptr) fiber.sanitizer = __tsan_create_fiber(0);
#endif
}

/// First thing on the other side of a switch: keeps where the one that left is to go on.
inline void arrive([[maybe_unused]] FiberContext& here, boost::context::detail::transfer_t transfer) {
  auto& from = *static_cast<FiberContext*>(transfer.data);
  from.context = transfer.fctx;
#if defined(KW_SANITIZE_ADDRESS)
  __sanitizer_finish_switch_fiber(here.sanitizer, &from.stack, &from.stack_bytes);
#endif
}

/// Leaves `here` for `to`, which is another; returns when something switches back.
inline void switch_to(FiberContext& to, FiberContext& here) {
#if defined(KW_SANITIZE_ADDRESS)
  __sanitizer_start_switch_fiber(&here.sanitizer, to.stack, to.stack_bytes);
#elif defined(KW_SANITIZE_THREAD)
  __tsan_switch_to_fiber(to.sanitizer, 0);
#endif
  arrive(here, boost::context::detail::jump_fcontext(to.context, &here));
}

}  // namespace kw::sim
