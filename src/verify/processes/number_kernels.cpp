#include "verify/processes/number_kernels.hpp"

#include <chrono>
#include <span>
#include <utility>

#include "base/embedded_texts.hpp"

namespace kw {

std::span<const EmbeddedText> number_kernel_texts();

namespace {

/// It takes half a second, on a busy machine several.
const AnswerDeadline k_numbers_deadline(std::chrono::seconds(20), std::chrono::seconds(60));

/// That these kernels exist, and that so many arguments of 64 bits are theirs.
BuildRequest request_for_numbers() {
  BuildRequest request;
  request.source = std::string(number_kernels_text());
  for (const std::string type : {"f32", "f16", "bf16"}) {
    const auto ask_for = [&](const std::string& kernel, std::size_t arguments) {
      request.launches.push_back({kernel + type, {1, 1, 1}, {256, 1, 1}, 0, {arguments, BufferArg{0}}});
    };
    ask_for("k_draw_", 11);
    ask_for("k_find_changed_", 12);
    ask_for("k_count_useless_", 4);
  }
  return request;
}

}  // namespace

std::string_view number_kernels_text() {
  return number_kernel_texts().front().text;
}

NumberKernelBuild::NumberKernelBuild(const DeviceFacts& device, Build build)
    : wanted_(device.kind == DeviceKind::gpu && device.target == "cuda"), build_(std::move(build)) {}

void NumberKernelBuild::begin() {
  const std::lock_guard lock(mutex_);
  if (!wanted_ || built_.valid()) return;
  built_ = std::async(std::launch::async, [this] {
             auto answer = build_(request_for_numbers(), k_numbers_deadline);
             auto* reply = std::get_if<BuildReply>(&answer);
             return reply != nullptr && reply->status == BuildStatus::ok ? std::move(reply->binary) : std::string();
           }).share();
}

std::string NumberKernelBuild::binary() {
  begin();
  return built_.valid() ? built_.get() : "";
}

}  // namespace kw
