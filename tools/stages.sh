#!/usr/bin/env bash
# What tools/quickstart, tools/test and .ci/run have in common: their stages, timed. Sourced by them; does nothing itself.
set -euo pipefail

# shellcheck source=tools/options.sh
source tools/options.sh

# Only the end of a failed stage's output is shown.
readonly lines_shown=40
# Into a file or a pipe, how far a build is says a line now and then.
readonly seconds_between_lines=${FARANDOLE_PROGRESS_SECONDS:-30}

# stage TITLE COMMAND...: runs the command with its output in build/logs, shows how far it is, and prints how long it took.
stage() {
  local title=$1 log="build/logs/$1.log" began=$SECONDS
  shift
  mkdir -p build/logs
  [[ -t 1 ]] && printf '%-10s ... (%s)' "$title" "$log"
  "$@" 2>&1 | tee "$log" | show_progress "$title" "$log" || stage_failed "$title" "$log"
  [[ -t 1 ]] && printf '\r%78s\r' ''
  printf '%-10s %4d s\n' "$title" $((SECONDS - began))
}

stage_failed() {
  printf '\n%s failed; the end of %s:\n' "$1" "$PWD/$2"
  tail -n "$lines_shown" "$2"
  exit 1
} >&2

# Reads what Ninja prints, "[DONE/ALL] what it has done": in place on a terminal, else a line now and then.
show_progress() {
  local title=$1 log=$2 began=$SECONDS shown=$SECONDS all=0 text
  while IFS= read -r text; do
    [[ $text =~ ^\[([0-9]+)/([0-9]+)\]\  ]] || continue
    if [[ ${BASH_REMATCH[2]} != "$all" ]]; then all=${BASH_REMATCH[2]} began=$SECONDS; fi
    text=$(printf '%-10s %s%s (%s)' "$title" "${BASH_REMATCH[0]}" \
      "$(time_left "${BASH_REMATCH[1]}" "$all" $((SECONDS - began)))" "$log")
    if [[ -t 1 ]]; then
      printf '\r%-78s' "$text"
    elif [[ $((SECONDS - shown)) -ge $seconds_between_lines ]]; then
      shown=$SECONDS
      echo "$text"
    fi
  done
}

# time_left DONE ALL SECONDS: if the rest goes as fast as what is done; nothing before a twentieth is.
time_left() {
  [[ $(($1 * 20)) -ge $2 ]] || return 0
  local left=$(($3 * ($2 - $1) / $1))
  if [[ $left -lt 90 ]]; then printf 'about %d s left' "$left"; else printf 'about %d min left' $(((left + 30) / 60)); fi
}

# configure PRESET OPTION...
configure() {
  cmake --preset "$@"
}

# build PRESET TARGET...
build() {
  local preset=$1
  shift
  NINJA_STATUS='[%f/%t] ' cmake --build "build/$preset" --target "$@"
}

# set_up PURPOSE: loud only where it installs or must give up.
set_up() {
  local began=$SECONDS
  tools/setup "$1"
  printf '%-10s %4d s\n' setup $((SECONDS - began))
}

# run_tests PRESET CTEST OPTION...: and says which were skipped, why, and what lets them run.
run_tests() {
  local preset=$1 results=$PWD/build/logs/$1-tests.xml status=0
  shift
  rm -f "$results"
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --parallel "$(nproc)" \
    --test-output-size-passed 8192 --output-junit "$results" "$@" || status=$?
  [[ ! -f $results ]] || tools/skipped_tests.py "$results"
  return $status
}
