// The reply parser on arbitrary bytes. The first byte chooses how the model stopped and which target is asked for. What
// is taken must be a bundle that reads back; what is refused must say why in one bounded line; and neither the reply
// nor the message may leave the block that a prompt puts it in.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/fenced_text.hpp"
#include "propose/llm/replies/code_blocks.hpp"
#include "propose/llm/replies/reply_parse.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_fence(const std::string& text) {
  const auto blocks = kw::code_blocks(kw::fenced("text", text));
  check(blocks.size() == 1 && blocks.front().closed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  kw::ChatReply reply;
  reply.finish = static_cast<kw::ChatFinish>(1 + data[0] % 5);
  const std::string target = data[0] % 2 == 0 ? "opencl" : "cuda";
  reply.text.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  const kw::ParsedReply parsed = kw::parse_reply(reply, target);
  check(parsed.bundle.has_value() == (parsed.fault == kw::ReplyFault::none));
  check(parsed.message.empty() == parsed.bundle.has_value());
  check(parsed.message.size() < 600 && parsed.message.find_first_of("\n\r`") == std::string::npos);
  check(parsed.plan.size() < 8192);
  if (parsed.bundle) {
    check(parsed.bundle->target == target);
    const auto again = kw::parse_bundle(parsed.bundle->to_text(), "again");
    check(again.has_value() && *again == *parsed.bundle);
    check_fence(parsed.bundle->to_text());
  }
  check_fence(reply.text);
  return 0;
}
