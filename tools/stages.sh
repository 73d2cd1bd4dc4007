#!/usr/bin/env bash
# What tools/quickstart, tools/test and .ci/run have in common: their stages, timed. Sourced by them; does nothing itself.
set -euo pipefail

# Only the end of a failed stage's output is shown.
readonly lines_shown=40

# stage TITLE COMMAND...: runs the command with its output in build/logs, and prints how long it took.
stage() {
  local title=$1 log="build/logs/$1.log" began=$SECONDS
  shift
  mkdir -p build/logs
  [[ -t 1 ]] && printf '%-10s ...' "$title"
  "$@" >"$log" 2>&1 || stage_failed "$title" "$log"
  [[ -t 1 ]] && printf '\r'
  printf '%-10s %4d s\n' "$title" $((SECONDS - began))
}

stage_failed() {
  printf '\n%s failed; the end of %s:\n' "$1" "$PWD/$2"
  tail -n "$lines_shown" "$2"
  exit 1
} >&2

# configure PRESET OPTION...
configure() {
  cmake --preset "$@"
}

# build PRESET TARGET...
build() {
  local preset=$1
  shift
  cmake --build "build/$preset" --target "$@"
}

# set_up build|test: loud only where it installs or must give up.
set_up() {
  local began=$SECONDS
  tools/setup "$1"
  printf '%-10s %4d s\n' setup $((SECONDS - began))
}
