#!/usr/bin/env bash
# How the scripts that one starts answer --help, and what they do not know. Sourced by them; does nothing itself.
set -euo pipefail

# help_of SCRIPT: the comment on its first lines.
help_of() {
  sed -nE '2,/^[^#]/ s/^# ?//p' "$1"
}

# help_or_go_on SCRIPT "$@": --help, wherever it stands, prints the help and ends the script.
help_or_go_on() {
  local script=$1 argument
  shift
  for argument in "$@"; do
    if [[ $argument == --help || $argument == -h ]]; then
      help_of "$script"
      exit 0
    fi
  done
}

# misused SCRIPT EXPECTED GOT: one line, status 2.
misused() {
  echo "$1: expected $2, got $3; $1 --help says more" >&2
  exit 2
}
