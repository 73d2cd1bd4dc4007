// What packets of a dragonfly choose between, and the bundles of links over which they spread.
//
// A packet that does not take the shortest way goes by a router drawn at random: of its group where it stays in one, of
// a third group else. One that leaves its group takes any of the cables to where it goes, and these end at as many
// routers as they can, so its way to the cable ends at a router as good as drawn, too. Both are a walk to a router
// drawn among all of a group: a hop of rank 1 unless it is in the same slot, (slots - 1) / slots of the time, and one
// of rank 2 unless it is in the same chassis. Over all draws every link of the group is as likely as every other.
#include <utility>

#include <fmt/format.h>

#include "platform/topologies/dragonfly.hpp"

namespace farandole { inline namespace platform {

/// Adds the links of bundles to a platform, one after the other.
class DragonflyChoice::Bundler {
 public:
  Bundler(Platform& platform, int nodes_of_group) : platform_(platform), nodes_of_group_(nodes_of_group) {}

  /// Of nothing there is no bundle: -1.
  int add(const std::string& name, bool delays, Bundle bundle) {
    if (bundle.members.empty()) return -1;
    bundle.link = static_cast<int>(platform_.links.size());
    Link link = platform_.links[static_cast<std::size_t>(bundle.members.front())];
    link.name = name;
    if (!delays) link.latency = Seconds(0);
    link.wire = link.wire * static_cast<double>(bundle.members.size());
    platform_.links.push_back(std::move(link));
    platform_.network.bundles.push_back(std::move(bundle));
    return platform_.network.bundles.back().link;
  }
  int add_of_group(const std::string& name, int group, bool delays, Bundle bundle) {
    bundle.first_node = group * nodes_of_group_;
    bundle.end_node = bundle.first_node + nodes_of_group_;
    return add(fmt::format("group{}/{}", group, name), delays, std::move(bundle));
  }
  int add_of_all(const std::string& name, Bundle bundle) {
    bundle.end_node = platform_.nodes;
    return add(name, true, std::move(bundle));
  }

 private:
  Platform& platform_;
  int nodes_of_group_;
};

namespace {

double chance_to_leave(int places) {
  return static_cast<double>(places - 1) / places;
}

/// Links of every rank, of every group, and of every pair of groups in each direction.
struct Members {
  std::vector<std::array<std::vector<int>, 2>> of_group;
  std::vector<std::vector<int>> between;  // from group * groups + to group
};

Members members_of(const DragonflyLayout& layout, int first_link) {
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  Members members{std::vector<std::array<std::vector<int>, 2>>(at(layout.groups)),
                  std::vector<std::vector<int>>(at(layout.groups * layout.groups))};
  int link = first_link;
  layout.for_each_cable([&](int from, int to, int rank) {
    const int here = layout.group_of(from);
    const int there = layout.group_of(to);
    if (rank == 3) {
      members.between[at(here * layout.groups + there)].push_back(link);
      members.between[at(there * layout.groups + here)].push_back(link + 1);
    } else {
      append_links(members.of_group[at(here)][at(rank - 1)], {link, link + 1});
    }
    link += 2;
  });
  return members;
}

}  // namespace

DragonflyChoice::DragonflyChoice(const DragonflyLayout& layout, int nodes_per_router, int first_link,
                                 Platform& platform)
    : layout_(layout), first_link_(first_link) {
  const Members members = members_of(layout, first_link);
  Bundler bundler(platform, layout.routers_of_group() * nodes_per_router);
  add_local(members.of_group, bundler);
  add_optical(members.between, bundler);
  add_up_bundles(platform);
}

void DragonflyChoice::add_local(const std::vector<std::array<std::vector<int>, 2>>& links, Bundler& bundler) {
  const std::array<double, 2> hops{chance_to_leave(layout_.slots), chance_to_leave(layout_.chassis)};
  groups_.resize(links.size());
  for (const std::size_t rank : {0U, 1U}) {
    const std::string name = fmt::format("rank{}", rank + 1);
    std::vector<int> everywhere;
    for (std::size_t group = 0; group < links.size(); ++group) {
      const Bundle bundle{.members = links[group][rank], .hops = hops[rank], .by_sent = 2, .by_received = 1};
      groups_[group].rank[rank] = bundler.add_of_group(name, static_cast<int>(group), true, bundle);
      append_links(everywhere, links[group][rank]);
    }
    transit_.rank[rank] = bundler.add_of_all(
        "transit/" + name, {.members = everywhere, .hops = hops[rank], .counts_members = false, .by_sent = 2});
  }
}

void DragonflyChoice::add_optical(const std::vector<std::vector<int>>& links, Bundler& bundler) {
  std::vector<int> all;
  for (int from = 0; from < layout_.groups; ++from) {
    std::vector<int> out;
    std::vector<int> in;
    for (int to = 0; to < layout_.groups; ++to) {
      const auto& there = links[static_cast<std::size_t>(from * layout_.groups + to)];
      between_.push_back(bundler.add_of_group(fmt::format("to{}", to), from, false, {.members = there, .by_sent = 1}));
      append_links(out, there);
      append_links(in, links[static_cast<std::size_t>(to * layout_.groups + from)]);
    }
    append_links(all, out);
    OfGroup& own = groups_[static_cast<std::size_t>(from)];
    own.out = bundler.add_of_group("out", from, false, {.members = out, .carries = false, .by_sent = 1});
    own.in = bundler.add_of_group("in", from, false, {.members = in, .carries = false, .by_received = 1});
  }
  all_ = bundler.add_of_all("rank3", {.members = all, .by_sent = 2});
}

void DragonflyChoice::cross(Path& path, int link, int times) {
  if (link >= 0) path.insert(path.end(), static_cast<std::size_t>(times), link);
}

/// Walks to routers drawn at random, in a group or anywhere.
void DragonflyChoice::walk(Path& path, const OfGroup& where, int times) {
  for (const int link : where.rank) cross(path, link, times);
}

void DragonflyChoice::leave(Path& path, int from_group, int to_group, int optical_hops) const {
  walk(path, of(from_group), 1);
  cross(path, of(from_group).out, 1);
  cross(path, all_, optical_hops);
  walk(path, transit_, 2 * (optical_hops - 1));
  cross(path, of(to_group).in, 1);
  walk(path, of(to_group), 1);
}

WayChoice DragonflyChoice::within(int from, int to) const {
  WayChoice choice;
  const OfGroup& group = of(layout_.group_of(from));
  for (const auto& links : layout_.shortest_within(from, to)) {
    Path& path = choice.minimal.emplace_back();
    for (const int link : links) {
      path.push_back(first_link_ + link);
      cross(path, group.rank[layout_.is_of_rank_one(link) ? 0 : 1], 1);
    }
  }
  if (layout_.routers_of_group() > 2) walk(choice.other.emplace_back(), group, 2);
  return choice;
}

WayChoice DragonflyChoice::between(int from, int to) const {
  if (from == to) return {{{}}, {}};
  const int here = layout_.group_of(from);
  const int there = layout_.group_of(to);
  if (here == there) return within(from, to);
  WayChoice choice;
  Path& shortest = choice.minimal.emplace_back();
  leave(shortest, here, there, 1);
  cross(shortest, between_[static_cast<std::size_t>(here * layout_.groups + there)], 1);
  if (layout_.groups > 2) leave(choice.other.emplace_back(), here, there, 2);
  return choice;
}

}}  // namespace farandole::platform
