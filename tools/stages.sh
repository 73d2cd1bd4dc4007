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

# What an object took to compile on average, by library: seconds of one of two busy cores. Made from a whole build's .ninja_log:
#   awk -F'\t' 'match($4, /[a-z_]+\.dir/) { n = substr($4, RSTART, RLENGTH - 4); s[n] += $2 - $1; c[n]++ }
#                END { for (n in s) printf "%s %.0f\n", n, s[n] / c[n] / 1000 }' build/release/.ninja_log | sort
readonly build_costs=tools/build_costs

# cost_of LINE: of what Ninja says that it has done, from `costs`; linking, and what the list does not have, costs one.
cost_of() {
  [[ $1 =~ Building.*/([a-z_]+)\.dir/ ]] && echo "${costs[${BASH_REMATCH[1]}]:-1}" || echo 1
}

# Reads what Ninja prints: first, from planned(), all that it is going to do and "[planned]"; then "[DONE/ALL] what it has done".
# Shows how far it is, in place on a terminal, else by a line now and then.
show_progress() {
  local title=$1 log=$2 began=$SECONDS shown=$SECONDS all=0 ready=0 is_planned=no text name cost counts
  local -A costs
  while read -r name cost; do costs[$name]=$cost; done <"$build_costs"
  while IFS= read -r text; do
    if [[ $text == "[planned]" ]]; then is_planned=yes began=$SECONDS; continue; fi
    [[ $text =~ ^\[([0-9]+)/([0-9]+)\]\  ]] || continue
    counts=("${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}")
    cost=$(cost_of "$text")
    if [[ $is_planned == no ]]; then all=$((all + cost)); continue; fi
    ready=$((ready + cost < all ? ready + cost : all))  # libraries are linked, too, which nobody planned
    [[ $all -gt 0 ]] && cost="$ready $all" || cost="${counts[0]} ${counts[1]}"
    # shellcheck disable=SC2086  # two numbers
    text=$(printf '%-10s %s%s (%s)' "$title" "[${counts[0]}/${counts[1]}] " "$(time_left $cost $((SECONDS - began)))" "$log")
    if [[ -t 1 ]]; then
      printf '\r%-78s' "$text"
    elif [[ $((SECONDS - shown)) -ge $seconds_between_lines ]]; then
      shown=$SECONDS
      echo "$text"
    fi
  done
}

# time_left DONE ALL SECONDS: what has passed; and what is left if the rest costs what the list says, a quarter less or a third more.
# Nothing before a twentieth is done.
time_left() {
  [[ $(($1 * 20)) -ge $2 && $1 -le $2 ]] || return 0
  local left=$(($3 * ($2 - $1) / $1))
  local least=$((left * 3 / 4)) most=$((left * 4 / 3))
  if [[ $most -lt 120 ]]; then
    printf '%d s elapsed, %d to %d s left' "$3" "$least" "$most"
  else
    printf '%d min elapsed, %d to %d min left' $((($3 + 30) / 60)) $((least / 60)) $(((most + 59) / 60))
  fi
}

# configure PRESET OPTION...
configure() {
  cmake --preset "$@"
}

# planned PRESET: the objects that are not there yet, for show_progress(). (Ninja's own plan, -n, ends where CMake looks for new files.)
planned() {
  local object commands=build/$1/compile_commands.json
  [[ ! -f $commands ]] || grep -oE -- ' -o [^ ]+\.o ' "$commands" | while read -r _ object; do
    [[ -e build/$1/$object ]] || echo "[0/0] Building $object"
  done
  echo "[planned]"
}

# build PRESET TARGET...
build() {
  local preset=$1
  shift
  planned "$preset"
  NINJA_STATUS='[%f/%t] ' cmake --build "build/$preset" --target "$@"
}

# set_up PURPOSE: loud only where it installs or must give up.
set_up() {
  local began=$SECONDS
  tools/setup "$1"
  printf '%-10s %4d s\n' setup $((SECONDS - began))
}

# name_unsteady LOG: the tests that failed before they passed.
name_unsteady() {
  local names
  names=$(sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([^ ]+) .*\*\*\*(Failed|Exception|Timeout).*/\1/p; s/^ +Test +#[0-9]+: ([^ ]+) .*\*\*\*(Failed|Exception|Timeout).*/\1/p' "$1" | sort -u)
  [[ -z $names ]] || printf 'failed, then passed: %s\n' $names
}

# run_tests PRESET CTEST OPTION...: and says which were skipped, why, and what lets them run. Fails for a reason that is not in the file
# FARANDOLE_ALLOWED_SKIPS, where that is set. FARANDOLE_TRIES: how often a test is run before it has failed. Properties draw the cases of one
# seed, unless RC_PARAMS says otherwise. GCC 12's leak checker takes a thread's variables that lie 16 bytes into a page for those of glibc
# 2.19, and scans what stands before them as an address (google/sanitizers issue 1322); it is not told where they lie.
run_tests() {
  local results=$PWD/build/logs/$1-tests.xml log=$PWD/build/logs/$1-tests.log status=0
  local options=(--test-dir "build/$1" --output-on-failure --no-tests=error --parallel "$(nproc)" --test-output-size-passed 8192)
  shift
  rm -f "$results"
  RC_PARAMS=${RC_PARAMS:-seed=1} ASAN_OPTIONS=${ASAN_OPTIONS:-intercept_tls_get_addr=0} ctest "${options[@]}" --output-junit "$results" --repeat "until-pass:${FARANDOLE_TRIES:-1}" "$@" | tee "$log" ||
    status=$?
  [[ $status -ne 0 ]] || name_unsteady "$log"
  [[ ! -f $results ]] || tools/skipped_tests.py "$results" ${FARANDOLE_ALLOWED_SKIPS:+"$FARANDOLE_ALLOWED_SKIPS"} || status=1
  return $status
}
