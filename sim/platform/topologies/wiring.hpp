// Switches and the cables between them, added to a platform one by one, and the checks that every network must pass.
//
// Called by the builders of topology kinds.
#pragma once

#include <cstdint>
#include <string>

#include "platform/topology.hpp"

namespace farandole { inline namespace platform {

/// The index of the new switch. `ports` 0: nobody says how many.
int add_switch(Platform& platform, const std::string& name, int level = 0, int ports = 0);

/// The index of the new cable, of two links "NAME/up" (towards `to`) and "NAME/down". `count` cables that hardware
/// shares packet by packet are one of so many times the rate.
int add_cable(Platform& platform, int from, int to, const std::string& name, const Topology::LinkRate& rate,
              int count = 1);

/// Fails at `where` when a switch has fewer ports than NICs and cables.
void check_ports(const Platform& platform, const Value& where);

/// A number that depends on all of its arguments and on nothing else, for choices that hardware makes by hashing.
std::uint64_t flow_hash(std::uint64_t seed, int from, int to, int choice);

}}  // namespace farandole::platform
