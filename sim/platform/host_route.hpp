// Routes to and from the memory of a node's host, where parameter servers keep their shards.
//
// The host sits where the node's first NIC meets its buses: between it and a device lies what lies between the NIC and
// the device, and between it and the network the NIC's own links. Called by training/servers.
#pragma once

#include "platform/platform.hpp"

namespace farandole { inline namespace platform {

/// Devices and nodes of the platform. The route of a device without a bus to its own host has no links.
Route route_to_host(const Platform& platform, int device, int node);
Route route_from_host(const Platform& platform, int node, int device);
/// Between nodes; empty from a node to itself.
Route route_between_hosts(const Platform& platform, int from_node, int to_node);

}}  // namespace farandole::platform
