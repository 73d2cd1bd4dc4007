#!/usr/bin/env bash
# What the commands of the laboratory share. Sourced by them; does nothing itself.
#
# Host i is the network namespace farandole-i with the address 10.111.0.(i+1); the switches are bridges in the namespace
# farandole-switch. No packet leaves these namespaces. What is up stands in $state; while a command holds the laboratory,
# it holds $lock, which the kernel lets go when the command dies, however it dies.
# shellcheck disable=SC2034  # variables are for those who source this
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly runtime=/run/farandole-lab
readonly state=$runtime/state lock=$runtime/lock prefix=farandole-
readonly cannot=77 # the status by which CTest knows a test that cannot be run here
# What the laboratory is like; tools/lab/up says what each means.
hosts=4 rate=100 trunk=0 mtu=0 burst=0 queue=4000000 per_host=1 transport=eager

say() { echo "lab: $*" >&2; }

refuse() {
  say "$2"
  exit "$1"
}

address_of() { echo "10.111.0.$(($1 + 1))"; }
mac_of() { printf '02:fa:00:00:00:%02x' "$(($1 + 1))"; }

# Says what is missing and exits with $cannot.
require_means() {
  local command
  [[ $(id -u) -eq 0 ]] || refuse $cannot "needs root, to make network namespaces"
  for command in ip tc bridge unshare flock sysctl; do
    command -v "$command" >/dev/null || refuse $cannot "needs the command $command (Debian: iproute2, util-linux, procps)"
  done
  mkdir -p "$runtime" 2>/dev/null || refuse $cannot "cannot write to $runtime"
  try_means || refuse $cannot "this kernel or container has no network namespaces, veth pairs or bridges to give"
  try_limit || refuse $cannot "this kernel has no token bucket filter (sch_tbf)"
}

readonly trial=${prefix}trial

try_means() {
  ip netns del $trial 2>/dev/null || true
  { ip netns add $trial && ip -n $trial link add name left type veth peer name right &&
    ip -n $trial link add name bridge0 type bridge; } 2>/dev/null
}

try_limit() {
  local works=0
  tc -n $trial qdisc add dev left root tbf rate 100mbit burst 20000 limit 100000 2>/dev/null || works=1
  ip netns del $trial
  return $works
}

# Until this process ends nobody else can.
hold() {
  exec 9>"$lock"
  flock -n 9 || refuse 1 "somebody else holds the laboratory (see: fuser $lock)"
}

# Ends what still runs in the laboratory's own namespaces, and takes them away: after a command, and before the next one,
# should the last have been killed.
sweep() {
  local namespace process
  for namespace in $(ip netns list | awk -v prefix="^$prefix" '$1 ~ prefix { print $1 }'); do
    for process in $(ip netns pids "$namespace" 2>/dev/null); do kill -KILL "$process" 2>/dev/null || true; done
    ip netns del "$namespace"
  done
  rm -rf "$runtime"/host-* "$state"
}

# Sets what the laboratory that is up is like.
read_state() {
  [[ -e $state ]] || refuse 1 "no laboratory is up: tools/lab/up -n HOSTS -r MBIT"
  # shellcheck disable=SC1090
  source "$state"
}
