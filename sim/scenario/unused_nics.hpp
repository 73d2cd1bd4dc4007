// Which of a node's NICs an algorithm leaves idle.
//
// A plain algorithm sends from rank to rank, and a rank through the NICs that its device is near: one ring through all
// ranks leaves every node through one device. Libraries lay as many rings as there are rails. Who times the one on a
// machine of the other kind is told.
#pragma once

#include <optional>
#include <string>

#include "collective/schedule.hpp"
#include "platform/placement.hpp"
#include "platform/platform.hpp"
#include "simulate/library/library.hpp"

namespace farandole { inline namespace scenario {

struct NicUse {
  int used = 0;  // by the node that uses most, to send or to receive
  int all = 0;   // of a node, that the job's devices can send through
};

/// Over all rounds of the schedule; nothing where some node uses all it has, or where nothing leaves a node. Time and
/// memory: O(transfers).
std::optional<NicUse> unused_nics(const Schedule& schedule, const Platform& platform, const Placement& placement);

/// `ring uses 1 of 8 NICs of a node; "library" (nccl-2.10) uses all`.
std::string describe(const NicUse& use, const Schedule& schedule, const Transport& transport);

/// What times on several nodes leave out that are a library's own: "oversubscription, routing and placement do not
/// fully act on collectives of nccl-2.21: the network is not known to be fully provisioned, and the nodes are not
/// contiguous". Nothing where neither is so, on one node, and where times are those of algorithms (Library::ways).
std::optional<std::string> note_on_fabric(const Library& library, const Platform& platform, const Placement& placement);

}}  // namespace farandole::scenario
