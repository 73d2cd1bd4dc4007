#include <algorithm>

#include "platform/topologies/fat_tree.hpp"
#include "platform/topologies/wiring.hpp"

namespace farandole { inline namespace platform {

int TreeLayout::leaves_below(int l) const {
  int count = 1;
  for (int i = 1; i <= std::min(l, height() - 1); ++i) count *= level(i).down;
  return count;
}

int TreeLayout::planes(int l) const {
  int count = 1;
  for (int i = 1; i <= std::min(l, height() - 1); ++i) count *= level(i).up;
  return count;
}

int TreeLayout::switch_index(int l, int subtree, int plane) const {
  int index = 0;
  for (int i = 0; i < l; ++i) index += subtrees(i) * planes(i);
  return index + subtree * planes(l) + plane;
}

int TreeLayout::cable_index(int l, int subtree, int plane, int up, int lane) const {
  int index = 0;
  for (int i = 0; i < l; ++i) index += subtrees(i) * planes(i) * level(i + 1).up * lanes(i + 1);
  if (l + 1 >= height()) return index;
  return index + ((subtree * planes(l) + plane) * level(l + 1).up + up) * lanes(l + 1) + lane;
}

int TreeLayout::chosen_port(const Flow& flow, int l) const {
  const int ports = level(l + 1).up * level(l + 1).cables;
  if (routing == TreeRouting::d_mod_k) return flow.to / planes(l) % ports;
  return static_cast<int>(flow_hash(seed, flow.from, flow.to, 2 * l) % static_cast<std::uint64_t>(ports));
}

int TreeLayout::chosen_plane(const Flow& flow, int top) const {
  int plane = 0;
  for (int l = 0; l < top; ++l) plane += chosen_port(flow, l) % level(l + 1).up * planes(l);
  return plane;
}

/// The lane downwards is the choice of the switch above, which hashes on its own; by destination both are the same.
int TreeLayout::chosen_lane(const Flow& flow, int l, bool upwards) const {
  if (routing == TreeRouting::spread) return 0;
  if (upwards || routing == TreeRouting::d_mod_k) return chosen_port(flow, l) / level(l + 1).up;
  const auto cables = static_cast<std::uint64_t>(level(l + 1).cables);
  return static_cast<int>(flow_hash(seed, flow.from, flow.to, 2 * l + 1) % cables);
}

Path TreeLayout::path(const Flow& flow, int top, int plane) const {
  Path links(static_cast<std::size_t>(2 * top));
  for (int l = 0; l < top; ++l) {
    const int below = plane % planes(l);
    const int up = plane % planes(l + 1) / planes(l);
    const int from = flow.from_leaf / leaves_below(l);
    const int to = flow.to_leaf / leaves_below(l);
    links[static_cast<std::size_t>(l)] = 2 * cable_index(l, from, below, up, chosen_lane(flow, l, true));
    links[static_cast<std::size_t>(2 * top - 1 - l)] =
        2 * cable_index(l, to, below, up, chosen_lane(flow, l, false)) + 1;
  }
  return links;
}

Paths TreeLayout::paths(const Flow& flow) const {
  int top = 0;
  while (flow.from_leaf / leaves_below(top) != flow.to_leaf / leaves_below(top)) ++top;
  if (routing != TreeRouting::spread) return {path(flow, top, chosen_plane(flow, top))};
  Paths all;
  all.reserve(static_cast<std::size_t>(planes(top)));
  for (int plane = 0; plane < planes(top); ++plane) all.push_back(path(flow, top, plane));
  return all;
}

}}  // namespace farandole::platform
