// Readers of "network" for the kinds leaf_spine and fat_tree.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "platform/sections.hpp"
#include "platform/topologies/fat_tree.hpp"
#include "platform/topologies/kinds.hpp"
#include "platform/topologies/limits.hpp"

namespace farandole { inline namespace platform {
namespace {

void read_ways(Section& section, FatTree& tree) {
  constexpr std::array routings{TreeRouting::ecmp, TreeRouting::d_mod_k, TreeRouting::spread};
  constexpr std::array rails{Rails::none, Rails::apart, Rails::joined};
  tree.routing = routings.at(read_choice(section, "routing", "a routing", {"ecmp", "d_mod_k", "spread"}));
  tree.rails = rails.at(read_choice(section, "rails", "rails", {"none", "apart", "joined"}));
  tree.seed = static_cast<std::uint64_t>(section.optional<std::int64_t>("seed", 1));
}

/// Uplinks of a leaf for which the rate of its nodes is `oversubscription` times the rate upwards.
int uplinks(const Value& where, double oversubscription, const FatTree& tree, const Topology& topology) {
  if (!(oversubscription > 0)) where.fail("an oversubscription above zero");
  const NodeTemplate node = node_template(topology);
  const double nics = tree.rails == Rails::none ? static_cast<double>(node.nics.size()) : 1;
  const BytesPerSecond nic = node.links[static_cast<std::size_t>(node.nics.front().up)].wire;
  const FatTree::Level& spine = tree.levels[1];
  const double count = tree.levels[0].down.value() * nics * nic / (oversubscription * spine.link.wire);
  const double whole = std::round(count);
  if (whole > most_cables_together)
    where.fail(fmt::format("at most {} uplinks of a leaf", counted(most_cables_together)),
               fmt::format("{}, for which it has {:.4g}", oversubscription, count));
  if (whole < 1 || std::abs(count - whole) > 1e-9 * count || std::fmod(whole, spine.cables) != 0) {
    where.fail(fmt::format("an oversubscription that a whole number of spines gives, {} cables to each", spine.cables),
               fmt::format("{}, for which a leaf has {:.4g} uplinks", oversubscription, count));
  }
  return static_cast<int>(whole);
}

FatTree::Level read_level(const Value& value, std::size_t l, std::size_t height) {
  Section section = sourced(value);
  FatTree::Level level;
  const std::string usual = l == 0 ? "leaf" : l == 1 ? "spine" : l == 2 ? "core" : "level" + std::to_string(l) + "_";
  level.name = section.optional<Text>("name", {usual}).value;
  const bool may_grow = l > 0 && l + 1 == height;
  if (!may_grow || section.maybe("down")) level.down = read_at_least(section.child("down"), 1);
  if (l > 0) {
    level.up = read_positive(section, "parents", 1);
    level.cables = read_positive(section, "cables", 1);
    level.link = read_link(section.child("link"));
  }
  if (const auto ports = section.maybe("switch_ports")) level.ports = read_at_least(*ports, 1);
  section.finish();
  return level;
}

}  // namespace

NetworkPlan read_leaf_spine(Section& file, const Topology& topology, const TextReader& /*text*/) {
  Section section = sourced(file.child("network"));
  FatTree tree;
  read_ways(section, tree);
  tree.levels.resize(2);
  FatTree::Level& leaf = tree.levels[0];
  FatTree::Level& spine = tree.levels[1];
  leaf.name = "leaf";
  leaf.down = read_at_least(section.child("nodes_per_leaf"), 1);
  leaf.ports = section.maybe("leaf_ports") ? read_positive(section, "leaf_ports", 1) : 0;
  spine.name = "spine";
  spine.ports = section.maybe("spine_ports") ? read_positive(section, "spine_ports", 1) : 0;
  spine.cables = read_positive(section, "cables_per_spine", 1);
  spine.link = read_link(section.child("link"));
  const auto oversubscription = section.maybe("oversubscription");
  if (oversubscription && section.maybe("spines")) {
    oversubscription->fail("either \"spines\" or \"oversubscription\"", "both");
  }
  spine.up = oversubscription
                 ? uplinks(*oversubscription, read<double>(*oversubscription), tree, topology) / spine.cables
                 : read_at_least(section.child("spines"), 1);
  section.finish();
  return plan_of(std::move(tree));
}

NetworkPlan read_fat_tree(Section& file, const Topology& /*topology*/, const TextReader& /*text*/) {
  Section section = sourced(file.child("network"));
  FatTree tree;
  read_ways(section, tree);
  const Value levels = section.child("levels");
  const auto elements = levels.elements();
  if (elements.empty()) levels.fail("at least one level", "none");
  for (std::size_t l = 0; l < elements.size(); ++l) tree.levels.push_back(read_level(elements[l], l, elements.size()));
  section.finish();
  return plan_of(std::move(tree));
}

}}  // namespace farandole::platform
