#include "protocol/messages.hpp"

#include <type_traits>

#include "base/wire_reader.hpp"
#include "base/wire_writer.hpp"
#include "protocol/fields.hpp"

namespace kw {
namespace {

// Kinds count from 1 for the host and from 65 for the worker, so that a frame sent back to its sender is refused.
constexpr std::uint8_t k_first_host_kind = 1;
constexpr std::uint8_t k_first_worker_kind = 65;

template <typename Message>
std::string encode_from(const Message& message, std::uint8_t first_kind) {
  wire::Writer writer;
  writer.put_byte(static_cast<std::uint8_t>(first_kind + message.index()));
  std::visit([&writer](const auto& body) { writer(body); }, message);
  return writer.take();
}

template <typename Message>
Result<Message> decode_from(std::string_view payload, std::uint8_t first_kind, std::string_view sender) {
  wire::Reader reader(payload);
  Message message;
  const std::uint8_t kind = reader.get_byte();
  if (!reader.failed() && (kind < first_kind || !reader.get_alternative(message, kind - first_kind))) {
    return fail(errc::protocol_malformed, "a message of the {} has the unknown kind {}", sender, kind);
  }
  if (!reader.failed() && reader.remaining() > 0) reader.fail_with("bytes follow the message");
  if (reader.failed()) {
    return fail(errc::protocol_malformed, "a message of the {} is malformed: {}", sender, reader.mistake());
  }
  return message;
}

}  // namespace

std::string encode(const HostMessage& message) {
  return encode_from(message, k_first_host_kind);
}

std::string encode(const WorkerMessage& message) {
  return encode_from(message, k_first_worker_kind);
}

Result<HostMessage> decode_host_message(std::string_view payload) {
  return decode_from<HostMessage>(payload, k_first_host_kind, "host");
}

Result<WorkerMessage> decode_worker_message(std::string_view payload) {
  return decode_from<WorkerMessage>(payload, k_first_worker_kind, "worker");
}

}  // namespace kw
