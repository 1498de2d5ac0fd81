# shellcheck shell=bash
# Sourced by ./dev: configures and builds a preset without noise. The whole output goes to build/PRESET/build.log; the
# terminal sees one progress line, and the errors if there are any.

: "${repo:?set by ./dev}"

# Configures once, and again when the presets have changed; CMake itself notices changes to its own files.
configure() {
  local preset=$1 folder=$repo/build/$1
  [[ $folder/.configured -nt $repo/CMakePresets.json ]] && return
  mkdir -p "$folder"
  # A second checkout or a wiped build folder then costs seconds instead of minutes.
  command -v ccache >/dev/null && export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
  if ! (cd "$repo" && cmake --preset "$preset") >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    die "CMake could not configure preset '$preset'; the reason stands above"
  fi
  : >"$folder/.configured"
}

# Without this, ccache keeps nothing that is compiled with precompiled headers.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros,include_file_mtime,include_file_ctime}

# Reads Ninja's output. One line rewritten in place on a terminal; elsewhere a line now and then if it takes long.
show_progress() {
  local preset=$1 line last=$SECONDS
  while IFS= read -r line; do
    [[ $line =~ ^\[[0-9]+/[0-9]+\] ]] || continue
    if [[ -t 2 ]]; then
      printf '\r\e[Kdev: building %s %s' "$preset" "${BASH_REMATCH[0]}" >&2
    elif ((SECONDS - last >= 20)); then
      say "building $preset ${BASH_REMATCH[0]}"
      last=$SECONDS
    fi
  done
  [[ ! -t 2 ]] || printf '\r\e[K' >&2
}

show_errors() {
  local log=$1
  if grep -q '^FAILED' "$log"; then
    sed -n '/^FAILED/,$p' "$log" | head -n 300 >&2
  else
    tail -n 60 "$log" >&2
  fi
}

# build PRESET [TARGET...]
build() {
  local preset=$1 log=$repo/build/$1/build.log
  shift
  configure "$preset"
  local -a targets=()
  (($# == 0)) || targets=(--target "$@")
  if ! NINJA_STATUS='[%f/%t] ' cmake --build "$repo/build/$preset" "${targets[@]}" 2>&1 |
    tee "$log" | show_progress "$preset"; then
    show_errors "$log"
    die "preset '$preset' does not build; the whole log is build/$preset/build.log"
  fi
}
