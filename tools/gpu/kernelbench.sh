#!/usr/bin/env bash
# KernelBench's problems at their own sizes on this machine's GPU: kernels of kernelwright, checked and timed interleaved
# with eager PyTorch and torch.compile; every kernel through all gates at smaller sizes; one table. tools/gpu/README.md.
#
#   KERNELBENCH=path/to/KernelBench    a folder with level1/ and level2/ (required)
#   KERNELWRIGHT=path/to/kernelwright  take this one; otherwise a release build is made here
#   OUT=kw-kernelbench                 where everything is written; a folder that is there is continued
#   STEPS="prepare time gates report"  which steps, in this order
#   ONLY=1-23,2-39                     these problems alone, as level-number
#   DEVICE=cuda:0                      where gates are run, as `kernelwright doctor` lists it
#   STYLE=fused                        style of kernels; where it has none for a problem, plain
#   PRECISION=strict                   what products may round: strict, tf32_convolutions (as PyTorch does) or tf32 (PyTorch's products then too)
#   EMIT_FOR=h200                      whose facts kernels are written for (a shipped name or FILE.json); needs no GPU
#   SECONDS_LEFT=540                   begin nothing new after that long; the next call goes on
#   JOBS=N, GATE_JOBS=N                problems at work at once; default: three quarters and half of the processors
#   RETRY=failed,crashed,late          do again what ended so
#   FIT=2e6                            operations of the primary workload at which the gates are run
#   FACTS=facts.json                   hazards of problems, for the second mean
#   AUTOTUNE=1                         time torch.compile's max-autotune too: minutes of compiling per problem
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[[ -d ${KERNELBENCH:-} ]] || { echo "KERNELBENCH=${KERNELBENCH:-} is no folder; give one with level1/ and level2/" >&2; exit 2; }
if [[ -z ${KERNELWRIGHT:-} ]]; then
  "$repo/dev" build release kernelwright kernelwright-worker >&2
  KERNELWRIGHT=$repo/build/release/bin/kernelwright
fi
[[ -x $KERNELWRIGHT ]] || { echo "KERNELWRIGHT=$KERNELWRIGHT is no program" >&2; exit 2; }
read -ra steps <<<"${STEPS:-prepare time gates report}"
exec python3 "$repo/tools/gpu/kernelbench.py" "${OUT:-kw-kernelbench}" "${steps[@]}" --problems "$KERNELBENCH" \
  --kernelwright "$KERNELWRIGHT" --style "${STYLE:-fused}" --emit-for "${EMIT_FOR:-h200}" \
  --precision "${PRECISION:-strict}" --device "${DEVICE:-cuda:0}" --fit "${FIT:-2e6}" \
  --seconds "${SECONDS_LEFT:-540}" ${ONLY:+--only "$ONLY"} ${RETRY:+--retry "$RETRY"} ${JOBS:+--jobs "$JOBS"} \
  ${GATE_JOBS:+--gate-jobs "$GATE_JOBS"} ${FACTS:+--facts "$FACTS"} \
  ${AUTOTUNE:+--autotune}
