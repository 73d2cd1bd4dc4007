// Ways round failed cables.
//
// Called by platform/condition.hpp. Of the ways that the network would take, those over a failed cable are given up and
// the others carry their share; where none is left, a shortest way over what still works is taken, one of several by a
// hash of the pair. Real networks do so once their routing tables have converged.
#pragma once

#include <vector>

#include "config/document.hpp"
#include "platform/platform.hpp"

namespace farandole { inline namespace platform {

/// Takes the cables, numbers in rising order, out of the network. Fails at `where` when two nodes are parted.
void go_round(const std::vector<int>& failed_cables, Platform& platform, const Value& where);

}}  // namespace farandole::platform
