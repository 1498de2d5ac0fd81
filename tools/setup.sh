# shellcheck shell=bash
# Sourced by ./dev: makes sure that what tools/packages.txt lists for a purpose is there. On Debian 12 it is installed,
# elsewhere it is named. When nothing is missing, this costs one dpkg-query.

: "${repo:?set by ./dev}"

say() { printf 'dev: %s\n' "$*" >&2; }

die() {
  say "$@"
  exit 1
}

# Prints "package<TAB>upstream name" for each line of the given purposes.
wanted_packages() {
  local purpose package upstream
  while read -r purpose package upstream; do
    [[ " $* " == *" $purpose "* ]] && printf '%s\t%s\n' "$package" "$upstream"
  done <"$repo/tools/packages.txt"
  return 0
}

is_debian_12() {
  [[ -r /etc/os-release ]] || return 1
  (
    # shellcheck source=/dev/null
    . /etc/os-release
    [[ ${ID-} == debian && ${VERSION_ID-} == 12 ]]
  )
}

# Prints the packages of the given purposes that are not installed, the first name of each `a|b`.
missing_packages() {
  local -a wanted=() names=()
  local -A installed=()
  local status package alternative
  mapfile -t wanted < <(wanted_packages "$@")
  wanted=("${wanted[@]%%$'\t'*}")
  mapfile -t names < <(printf '%s\n' "${wanted[@]//|/$'\n'}")
  while read -r status package; do
    [[ $status != ii ]] || installed[$package]=1
    # Unknown names are what this looks for: dpkg-query's complaint about them is dropped.
  done < <(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' "${names[@]}" 2>/dev/null)
  for package in "${wanted[@]}"; do
    for alternative in ${package//|/ }; do
      [[ ! -v installed[$alternative] ]] || continue 2
    done
    printf '%s\n' "${package%%|*}"
  done
}

apt() {
  local -a as_root=()
  ((EUID == 0)) || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" >>"$repo/build/apt.log" 2>&1
}

# A fresh system knows no package and an old one knows versions that are gone; only then are the lists fetched.
try_install() {
  local -a install=(--no-install-recommends install "$@")
  if apt --simulate "${install[@]}" && apt "${install[@]}"; then return; fi
  apt update && apt "${install[@]}"
}

install_packages() {
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    die "packages are missing, and installing them needs root or sudo; as root, run: apt-get install $*"
  fi
  say "installing from Debian what building, running and checking needs and this machine lacks: $*"
  mkdir -p "$repo/build"
  : >"$repo/build/apt.log"
  if ! try_install "$@"; then
    tail -n 20 "$repo/build/apt.log" >&2
    die "apt-get could not install them, for the reason above (all of it: build/apt.log); install them and try again"
  fi
  rm -f "$repo"/build/*/.configured  # so that CMake looks for them again
}

name_libraries() {
  say "this is not Debian 12, so nothing is installed for you; the build needs these, and says which it does not find:"
  wanted_packages "$@" | cut -f2 | sed 's/^/       /' >&2
}

# setup PURPOSE...: returns when everything needed is installed, or on another distribution has been named once.
setup() {
  if is_debian_12; then
    local -a missing=()
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]} == 0)) || install_packages "${missing[@]}"
  elif [[ ! -e $repo/build/.libraries-named-$* ]]; then
    name_libraries "$@"
    mkdir -p "$repo/build"
    : >"$repo/build/.libraries-named-$*"
  fi
}
