#!/usr/bin/env bash
# Builds the laboratory's network from $hosts, $rate, $trunk, $mtu, $burst, $queue. Sourced by up and run.
#
# Why each setting:
# - gso_max_segs 1: a frame at the limiter is as large as on a wire, not 64 KB.
# - burst: one frame and what passes in 100 us. A larger bucket lets small messages through for free, a smaller one loses
#   tokens whenever the timer that fills it is late.
# - queue: deep enough that nothing is dropped; a loss costs TCP more than any rate.
# - no slow start after idle, no metrics kept, cubic: a connection behaves alike in every repetition.
# - static neighbours and forwarding: no packet but those that are measured.
# shellcheck disable=SC2034  # variables are for those who source this
set -euo pipefail

# shellcheck source=tools/lab/lab.sh
source "$(dirname "${BASH_SOURCE[0]}")/lab.sh"

readonly switch=${prefix}switch

limit() { # NAMESPACE DEVICE MBIT
  tc -n "$1" qdisc replace dev "$2" root tbf rate "$3mbit" burst "$((burst > 0 ? burst : mtu + 14 + $3 * 100 / 8))" \
    limit "$queue"
}

leaf_of() { echo $((trunk > 0 && $1 >= (hosts + 1) / 2)); }

make_switches() {
  local leaf
  ip netns add "$switch"
  quiet "$switch"
  for ((leaf = 0; leaf <= (trunk > 0); ++leaf)); do
    ip -n "$switch" link add name "leaf$leaf" mtu "$mtu" type bridge
    ip -n "$switch" link set "leaf$leaf" up
  done
  ((trunk > 0)) || return 0
  ip -n "$switch" link add name trunk0 mtu "$mtu" type veth peer name trunk1 mtu "$mtu"
  for leaf in 0 1; do
    ip -n "$switch" link set "trunk$leaf" gso_max_segs 1 master "leaf$leaf" up
    limit "$switch" "trunk$leaf" "$trunk"
  done
}

quiet() { ip netns exec "$1" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1; }

make_host() { # I
  local namespace=$prefix$1
  ip netns add "$namespace"
  quiet "$namespace"
  ip -n "$namespace" link set lo up
  ip link add name "port$1" mtu "$mtu" netns "$switch" type veth peer name eth0 mtu "$mtu" address "$(mac_of "$1")" netns "$namespace"
  ip -n "$switch" link set "port$1" gso_max_segs 1 master "leaf$(leaf_of "$1")" up
  ip -n "$namespace" link set eth0 gso_max_segs 1 up
  ip -n "$namespace" addr add "$(address_of "$1")/24" dev eth0
  ip -n "$namespace" route replace 10.111.0.0/24 dev eth0 proto kernel scope link src "$(address_of "$1")" congctl lock cubic
  ip netns exec "$namespace" sysctl -qw net.ipv4.tcp_slow_start_after_idle=0 net.ipv4.tcp_no_metrics_save=1 \
    net.ipv4.tcp_rmem="4096 131072 6291456" net.ipv4.tcp_wmem="4096 16384 4194304"
  limit "$namespace" eth0 "$rate"
  limit "$switch" "port$1" "$rate"
}

# Who is where, for everybody.
introduce() { # I
  local other leaf
  for ((other = 0; other < hosts; ++other)); do
    ((other == $1)) ||
      ip -n "$prefix$1" neigh replace "$(address_of "$other")" lladdr "$(mac_of "$other")" dev eth0 nud permanent
  done
  leaf=$(leaf_of "$1")
  bridge -n "$switch" fdb replace "$(mac_of "$1")" dev "port$1" master static
  ((trunk == 0)) || bridge -n "$switch" fdb replace "$(mac_of "$1")" dev "trunk$((1 - leaf))" master static
}

# As tools/lab/up lists them; sets options_read to how many words they are.
read_network_options() {
  local option OPTIND
  while getopts n:r:t:m:b:q:p:T: option; do
    case $option in
    n) hosts=$OPTARG ;; r) rate=$OPTARG ;; t) trunk=$OPTARG ;; m) mtu=$OPTARG ;;
    b) burst=$OPTARG ;; q) queue=$OPTARG ;; p) per_host=$OPTARG ;; T) transport=$OPTARG ;;
    *) refuse 2 "usage: [-n HOSTS] [-r MBIT] [-t TRUNK_MBIT] [-m MTU] [-b BURST] [-q QUEUE] [-p RANKS_PER_HOST] [-T eager|rendezvous]" ;;
    esac
  done
  ((hosts >= 2 && hosts <= 32)) || refuse 2 "-n: expected from 2 to 32 hosts, got $hosts"
  ((rate >= 1 && rate <= 10000)) || refuse 2 "-r: expected a rate from 1 to 10000 Mbit/s, got $rate"
  [[ $transport == eager || $transport == rendezvous ]] || refuse 2 "-T: expected eager or rendezvous, got $transport"
  # Two cores can carry some 20,000 frames a second.
  ((mtu > 0)) || mtu=$((rate > 200 ? 9000 : 1500))
  options_read=$((OPTIND - 1))
}

build() {
  local host name
  make_switches
  for ((host = 0; host < hosts; ++host)); do make_host "$host"; done
  for ((host = 0; host < hosts; ++host)); do introduce "$host"; done
  for name in hosts rate trunk mtu per_host transport; do echo "$name=${!name}"; done >"$state"
}
