#pragma once
// Source to binary on an opened device.

#include "device/opencl/session.hpp"
#include "protocol/messages.hpp"

namespace kw::opencl {

[[nodiscard]] BuildReply build(const Session& session, const BuildRequest& request);

}  // namespace kw::opencl
