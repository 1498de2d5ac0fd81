#!/usr/bin/env bash
# Builds (or takes a prebuilt) kernelwright, verifies CUDA kernels on this machine's GPU, and times them interleaved with
# PyTorch's FlexAttention, SDPA and eager attention. One command, one table, one JSON file; tools/gpu/README.md says more.
#
#   KERNELWRIGHT=path/to/kernelwright  take this one; otherwise a release build is made here
#   DEVICE=cuda:0                      as `kernelwright doctor` lists it
#   OUT=kw-gpu-DATE                    where everything is written
#   STYLES="wgmma mma simt"            styles of kernels, the first that can be emitted is timed
#   PROBLEMS="attention/full_f16 ..."  problems that are verified and timed
#   SHAPES="16,16,8192,64,f16 ..."     batch, heads, length, head size, type; of decoding also key heads, queries
#   EMIT_FOR=h200                      whose facts kernels are written for (a shipped name or FILE.json)
#   OPTIMIZE=60s                       search that long per problem and time what was found; empty: the default schedule
#   SECONDS_LEFT=540                   stop starting new measurements after that long
#   FLEX_AUTOTUNE=1                    time FlexAttention's max-autotune too: minutes of compiling per shape
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
device=${DEVICE:-cuda:0}
emit_for=${EMIT_FOR:-h200}
out=${OUT:-kw-gpu-$(date -u +%Y%m%dT%H%M%SZ)}
read -ra styles <<<"${STYLES:-wgmma mma simt}"
read -ra problems <<<"${PROBLEMS:-attention/full_f16 attention/causal_f16 attention/alibi_f16 attention/softcap_f16}"
read -ra shapes <<<"${SHAPES:-16,16,8192,64,f16 4,16,2048,64,bf16 4,16,4096,64,bf16 4,16,8192,64,bf16 4,16,16384,64,bf16 4,16,2048,128,bf16 4,16,4096,128,bf16 4,16,8192,128,bf16 4,16,16384,128,bf16}"
seconds_left=${SECONDS_LEFT:-540}
started=$SECONDS

find_kernelwright() {
  if [[ -n ${KERNELWRIGHT:-} ]]; then
    [[ -x $KERNELWRIGHT ]] || { echo "KERNELWRIGHT=$KERNELWRIGHT is no program" >&2; exit 2; }
    kernelwright=$(realpath "$KERNELWRIGHT")
    return
  fi
  "$repo/dev" build release kernelwright >&2
  kernelwright=$repo/build/release/bin/kernelwright
}

say() { printf '%4d s  %s\n' $((SECONDS - started)) "$*"; }
out_of_time() { ((SECONDS - started > seconds_left)); }

describe_machine() {
  "$kernelwright" doctor | tee "$out/doctor.txt" || true
  "$kernelwright" doctor --json >"$out/doctor.json" || true
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit,temperature.gpu \
      --format=csv | tee "$out/gpu.csv"
  fi
}

# emit PROBLEM FILE SET...: the first style that this problem has.
emit() {
  local problem=$1 file=$2 style
  shift 2
  for style in "${styles[@]}"; do
    if "$kernelwright" emit "$problem" --target cuda --device "$emit_for" --style "$style" "$@" >"$file" 2>"$file.err"; then
      echo "$style"
      return
    fi
  done
  cat "$file.err" >&2
  return 1
}

# All gates on small sizes: every later time is of a kernel that passed here.
verify_one() {
  local problem=$1 name=$2 style status=0
  style=$(emit "$problem" "$out/$name.cu") || { say "no CUDA style emits $problem"; return 1; }
  if [[ -n ${OPTIMIZE:-} ]]; then
    say "optimizing $problem ($style) for $OPTIMIZE"
    "$kernelwright" optimize "$problem" --target cuda --device "$device" --style "$style" --budget "$OPTIMIZE" \
      --out "$out/runs" --json >"$out/$name.optimize.json" 2>"$out/$name.optimize.txt" || true
    local best
    best=$(python3 -c 'import json,sys; b=json.load(open(sys.argv[1])).get("best"); print(b["bundle_path"] if b else "")' \
      "$out/$name.optimize.json" || true)
    [[ -z $best ]] || cp "$best" "$out/$name.cu"
  fi
  "$kernelwright" verify "$problem" "$out/$name.cu" --device "$device" >"$out/$name.verify.txt" 2>&1 || status=$?
  "$kernelwright" verify "$problem" "$out/$name.cu" --device "$device" --json >"$out/$name.verify.json" 2>/dev/null || true
  say "verify $problem ($style): $(tail -n 1 "$out/$name.verify.txt")"
  ((status == 0)) || sed 's/^/        /' "$out/$name.verify.txt"
  return $status
}

# The problem with its tensors in another type; nothing when this version has no such type.
problem_in() {
  local problem=$1 name=$2 type=$3 file=$out/$2-$3.toml
  if [[ $type == f16 ]]; then
    echo "$problem"
    return
  fi
  # The first name is the problem's; those behind it are the workloads'.
  sed "s/^dtype = \"f16\"/dtype = \"$type\"/; 0,/^name = /s|^name = .*|name = \"gpu/$name-$type\"|" \
    "$repo/problems/$problem.toml" >"$file"
  "$kernelwright" explain "$file" >/dev/null 2>&1 && echo "$file"
}

# passes PROBLEM NAME: verify_one, once for each name.
declare -A verdicts
passes() {
  if [[ -z ${verdicts[$2]:-} ]]; then
    verdicts[$2]=failed
    ! verify_one "$1" "$2" || verdicts[$2]=passed
  fi
  [[ ${verdicts[$2]} == passed ]]
}

# The kernel at the size that is timed: a cubin, its launch plan, and what it is worth.
prepare_shape() {
  local problem=$1 name=$2 batch heads length size type key_heads queries source fewer=
  IFS=, read -r batch heads length size type key_heads queries <<<"$3"
  [[ -z $key_heads ]] || fewer=-g$key_heads-q$queries
  if ! source=$(problem_in "$problem" "$name" "$type"); then
    say "$problem: no type $type in this version, f16 instead"
    type=f16
    source=$problem
  fi
  local verified=$name
  [[ $type == f16 ]] || verified=$name-$type
  passes "$source" "$verified" || return 0
  local case=$out/cases/$name-b$batch-h$heads-s$length-d$size$fewer-$type
  local -a set=(--set "B=$batch" --set "Hkv=${key_heads:-$heads}" --set "Hq=$heads" --set "Sq=${queries:-$length}"
    --set "Skv=$length" --set "D=$size" --set "Dv=$size")
  # What a search found is for one head size and type; everything else is emitted for its size.
  if [[ -n ${OPTIMIZE:-} && $size == 64 ]]; then
    cp "$out/$verified.cu" "$case.cu"
  else
    emit "$source" "$case.cu" "${set[@]}" >/dev/null || { say "$source at $3: cannot be emitted"; return; }
  fi
  if ! "$kernelwright" build "$source" "$case.cu" --device "$device" --binary "$case.cubin" --json "${set[@]}" \
    >"$case.json" 2>"$case.err"; then
    say "$source at $3: does not build: $(head -n 1 "$case.err")"
    return
  fi
  "$kernelwright" explain "$source" --json "${set[@]}" >"$case.explain.json" 2>/dev/null || true
}

find_kernelwright
mkdir -p "$out/cases"
out=$(realpath "$out")
say "kernelwright $("$kernelwright" --version), results in $out"
describe_machine
for problem in "${problems[@]}"; do
  name=$(basename "$problem")
  out_of_time && { say "no time left for $problem"; continue; }
  passes "$problem" "$name" || continue
  for shape in "${shapes[@]}"; do prepare_shape "$problem" "$name" "$shape"; done
done

if python3 -c 'import torch' 2>/dev/null; then
  python3 "$repo/tools/gpu/flex_baselines.py" "$out" --problems "$repo/problems" \
    --seconds $((seconds_left - (SECONDS - started))) ${FLEX_AUTOTUNE:+--autotune}
else
  say "PyTorch is not installed: kernels were verified, not compared"
fi
say "done; results in $out"
