# shellcheck shell=bash
# Sourced by ./dev: the checks of `./dev check`, one function each. A check prints what is wrong and fails; it never
# changes a file.

: "${repo:?set by ./dev}"

all_checks=(format shell layers docs facts tests headers tidy)

sources() { (cd "$repo" && find src tests fuzz bench -name '*.[ch]pp' | LC_ALL=C sort); }

check_format() {
  local report
  if ! report=$(sources | (cd "$repo" && xargs clang-format --dry-run --Werror) 2>&1); then
    # Its own words without the excerpts: one line per place is enough to find it.
    grep -v '^ ' <<<"$report" | cut -d: -f1,2,5 | LC_ALL=C sort -u | head -n 100 >&2
    die "clang-format would change the places above; run: clang-format -i FILE..."
  fi
}

check_shell() { (cd "$repo" && shellcheck -x dev .ci/run tools/*.sh tools/gpu/*.sh); }
check_layers() { python3 "$repo/tools/check_layers.py" "$repo"; }
check_docs() { python3 "$repo/tools/check_docs.py" "$repo"; }
check_facts() { python3 "$repo/tools/facts.py" "$repo"; }

check_tests() { run_tests dev -LE '^long$'; }

# The commit that changes are counted from: where this branch left the main one, or the commit before when it is the
# main one. Fails where there is no history to compare with.
base_commit() {
  local base head
  head=$(git -C "$repo" rev-parse --verify --quiet HEAD 2>/dev/null) || return 1
  base=${KW_BASE:-$(git -C "$repo" merge-base HEAD origin/main 2>/dev/null)} || base=$head
  base=$(git -C "$repo" rev-parse --verify --quiet "$base^{commit}") ||
    die "there is no commit '$KW_BASE' to count changes from; set KW_BASE to one, or unset it"
  [[ $base != "$head" ]] || base=$(git -C "$repo" rev-parse --verify --quiet HEAD~1) || return 1
  printf '%s\n' "$base"
}

# Sources that differ from the base commit, committed or not. A changed header stands for the source beside it.
changed_sources() {
  local base
  if ! base=$(base_commit); then
    sources | grep '\.cpp$'
    return
  fi
  {
    git -C "$repo" diff --name-only --diff-filter=d "$base" -- src tests fuzz bench
    git -C "$repo" ls-files --others --exclude-standard -- src tests fuzz bench
  } | sed -n 's/\.hpp$/.cpp/; /\.cpp$/p' | LC_ALL=C sort -u | while read -r file; do
    [[ ! -f $repo/$file ]] || printf '%s\n' "$file"
  done
}

# The files named on stdin, and every header that includes one of them over however many others. Paths below src/.
including_headers() {
  local found more
  found=$(LC_ALL=C sort -u)
  while [[ -n $found ]]; do
    more=$({
      printf '%s\n' "$found"
      (cd "$repo/src" && grep -rlF --include='*.hpp' -f <(awk '{ print "#include \"" $0 "\"" }' <<<"$found") .) | sed 's|^\./||'
    } | LC_ALL=C sort -u)
    [[ $more != "$found" ]] || break
    found=$more
  done
  printf '%s\n' "$found"
}

# Every header must compile alone. Asked are those that changed and those that include one that changed: the others
# read what they read before. All of them where there is no history, and with KW_ALL_HEADERS=1.
check_headers() {
  local base changed
  local -a units=()
  configure tidy
  if [[ -n ${KW_ALL_HEADERS-} ]] || ! base=$(base_commit); then
    build tidy all_verify_interface_header_sets
    return
  fi
  changed=$({
    git -C "$repo" diff --name-only "$base" -- src
    git -C "$repo" ls-files --others --exclude-standard -- src
  } | sed -n 's|^src/\(.*\.hpp\)$|\1|p' | including_headers)
  [[ -n $changed ]] || return 0
  mapfile -t units < <(ninja -C "$repo/build/tidy" -t targets all |
    sed -n 's|^\(.*_verify_interface_header_sets\.dir/[^/]*/\(.*\.hpp\)\.cxx\.o\): .*|\2 \1|p' | LC_ALL=C sort |
    LC_ALL=C join - <(LC_ALL=C sort <<<"$changed") | cut -d' ' -f2)
  ((${#units[@]} == 0)) || build tidy "${units[@]}"
}

# In a build folder where each file is compiled by itself: clang reads no header that g++ has precompiled, and no unit of
# several files. Configuring it is enough, since what is generated is generated then. Some options are g++'s alone.
tidy() { (cd "$repo" && xargs -r -P "$(nproc)" -n 1 clang-tidy --quiet -p build/tidy --extra-arg=-Wno-unknown-warning-option "$@"); }

# clang-tidy on what changed. Bounded: a change of more than KW_TIDY_LIMIT sources is checked in part, and says so.
check_tidy() {
  local -a files=()
  local limit=${KW_TIDY_LIMIT:-40}
  configure tidy
  mapfile -t files < <(changed_sources)
  if ((${#files[@]} > limit)); then
    say "clang-tidy: ${#files[@]} sources changed, checking every $(((${#files[@]} + limit - 1) / limit))th"
    mapfile -t files < <(printf '%s\n' "${files[@]}" | awk -v n="$(((${#files[@]} + limit - 1) / limit))" 'NR % n == 1')
  fi
  # Test bodies are long lists of facts: only their bugs matter, not their size.
  { printf '%s\n' "${files[@]}" | grep '_test\.cpp$' || [[ $? == 1 ]]; } |
    tidy --checks=-readability-function-size,-readability-function-cognitive-complexity
  { printf '%s\n' "${files[@]}" | grep -v '_test\.cpp$' || [[ $? == 1 ]]; } | tidy
}

# check [NAME...]: the named checks, or all; goes on after a failure, so that one run names everything.
check() {
  local name started status
  local -a failed=()
  (($# > 0)) || set -- "${all_checks[@]}"
  for name; do
    declare -F "check_$name" >/dev/null || die "no check '$name'; there are: ${all_checks[*]}"
    started=$SECONDS
    # Not `if (...)`: inside a condition, bash would ignore every failure of the check but its last.
    set +e
    (set -e; "check_$name")
    status=$?
    set -e
    if ((status == 0)); then
      say "check $name: ok ($((SECONDS - started)) s)"
    else
      say "check $name: FAILED"
      failed+=("$name")
    fi
  done
  ((${#failed[@]} == 0)) || die "failed: ${failed[*]}"
}
