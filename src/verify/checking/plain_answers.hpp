#pragma once
// What is right of a timed launch, said by the plain kernel in the oracle's place. Where each element of an answer
// follows from most of the data, as behind a batch norm, some rows cost the oracle as much as all of them: 2 to 3 s a
// launch, where the plain kernel takes milliseconds on the same data. It is ours and was checked against the oracle,
// runs in a process of its own, and costs the same for many elements as for a few.
//
// It may be the one that errs. So the oracle is asked about what a kernel has missed (doubted_rows.hpp has the
// reasons).

#include <cstddef>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/checking/fresh_data.hpp"

namespace kw {

/// Which elements of each output are compared, without values: blocks of neighbours, the first, the last and others at
/// random, some 262,144 elements or all. A block has rows as a whole, of 1024 elements or more together, or 4096
/// elements of a longer row. A kernel that is wrong in a share s of the blocks is found out by n of them with the
/// probability 1 - (1 - s)^n, and n is 64 at least where there are as many.
[[nodiscard]] std::vector<AnswerSample> places_to_compare(const Problem& problem, const Axes& axes, Rng& rng);

/// Takes the values from the outputs of a launch of the plain kernel on these data.
void take_answers(const Problem& problem, const OutputBytes& plain, FreshCase& fresh);

/// Whether `outputs`, which are over the limit of the plain kernel's answer `plain`, are right all the same: the oracle
/// answers the worst rows, of the elements that were looked at, and it is known then what the plain kernel errs there.
/// Draws all operands of `fresh`. False also where the oracle cannot be asked about single rows of such an output,
/// where the plain kernel is wrong in them, or where the two differ by more than they could if both were right.
[[nodiscard]] bool is_right_after_all(const Problem& problem, std::span<const CheckCase> alike, FreshCase& fresh,
                                      const OutputBytes& outputs, const OutputBytes& plain,
                                      const ParallelFor& parallel);

}  // namespace kw
