#!/usr/bin/env bash
# Every bundle of tests/cheaters_cuda through `kernelwright verify` on a real GPU: each cheat has to be rejected, by the gate
# that its line "// on a GPU: GATE REASON" names where it has one, and its honest twin accepted. "// on a GPU: accepted"
# stands where only the simulator refuses.
#
# usage: tools/gpu/cheaters.sh [NAME...]        all of them without names; a few seconds each
#   KERNELWRIGHT=PATH   the program; without it build/dev/bin/kernelwright
#   DEVICE=cuda:0       where
#   OUT=FOLDER          keeps what verify printed, NAME.cheat.txt and NAME.twin.txt; a temporary folder without it
# Prints one line a bundle and exits with 1 where something came out otherwise.
set -euo pipefail
cd "$(dirname "$0")/../.."
tool=${KERNELWRIGHT:-build/dev/bin/kernelwright}
device=${DEVICE:-cuda:0}
out=${OUT:-$(mktemp -d)}
mkdir -p "$out"
wrong=0

# The first line of verify's output that says FAIL as "GATE REASON"; "accepted"; or how verify ended.
verdict() {
  local file=$1 cheat=$2 log=$3 problem status=0
  problem=tests/problems/$(sed -n 's|^problem = "test/\(.*\)"$|\1|p' "$file").toml
  timeout 120 "$tool" verify "$problem" "$file" --tune "CHEAT=$cheat" --device "$device" >"$log" 2>&1 || status=$?
  case $status in
    0) echo accepted ;;
    1) sed -n 's/^FAIL *\([a-z]*\): *\([a-z_]*\).*/\1 \2/p' "$log" | head -1 ;;
    *) echo "exit status $status" ;;
  esac
}

names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <(basename -s .cu tests/cheaters_cuda/*.cu)
for name in "${names[@]}"; do
  file=tests/cheaters_cuda/$name.cu
  expected=$(sed -n 's|^// on a GPU: ||p' "$file")
  cheat=$(verdict "$file" 1 "$out/$name.cheat.txt")
  twin=$(verdict "$file" 0 "$out/$name.twin.txt")
  mark=ok
  case $cheat in
    accepted) [ "$expected" = accepted ] || mark=WRONG ;;
    exit* | "") mark=WRONG ;;
  esac
  [ -z "$expected" ] || [ "$cheat" = "$expected" ] || mark=WRONG
  grep -q '^// The honest twin is refused as well: ' "$file" || [ "$twin" = accepted ] || mark=WRONG
  [ $mark = ok ] || wrong=1
  printf '%-5s %-36s %-34s twin %s\n' "$mark" "$name" "$cheat" "$twin"
done
echo "what verify printed: $out"
exit $wrong
