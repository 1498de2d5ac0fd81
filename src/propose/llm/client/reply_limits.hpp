#pragma once
// How much of a reply is taken in, by the client that receives it and by the parser that reads it.

#include <cstddef>

namespace kw {

/// Answer and reasoning together. A kernel of a thousand lines has 50 KB; a long chain of reasoning a few hundred.
inline constexpr std::size_t k_max_reply_bytes = std::size_t{4} << 20;

}  // namespace kw
