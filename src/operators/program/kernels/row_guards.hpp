#pragma once
// Guards that cut the rows of a reduction off: part * length + i < extent leaves out the last elements along i, the
// outermost column, and then needs no asking of each element.

#include "program/stages/stage.hpp"

namespace kw {

struct RowGuards {
  StageExpr length;  ///< of the outermost column, as far as elements count; absent: all of it
  StageExpr others;  ///< what is still to be asked of each element; absent: nothing
};

[[nodiscard]] RowGuards row_guards(const Stage& reduction);

}  // namespace kw
