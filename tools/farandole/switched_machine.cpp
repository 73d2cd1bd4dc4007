#include "switched_machine.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "config/section.hpp"
#include "platform/graph_file.hpp"
#include "platform/topology.hpp"

namespace farandole {
namespace {

using Json = nlohmann::ordered_json;

constexpr int usual_switch = 16;  // nodes
constexpr int usual_machine = 4;  // times the job

/// Rates of links between switches, at whatever depth of "network".
void find_switch_rates(const Value& value, std::vector<Value>& found) {
  if (value.is_array()) {
    for (const Value& element : value.elements()) find_switch_rates(element, found);
  }
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.members()) {
    if (key == "rate" && member.is_string()) found.push_back(member);
    find_switch_rates(member, found);
  }
}

std::string rate_in_gigabits(BytesPerSecond rate) {
  return fmt::format("{:.9g} Gbit/s", rate.si() * 8 / 1e9);
}

class MachineBuilder {
 public:
  MachineBuilder(const Document& document, const Catalogue& catalogue, const SwitchOptions& options, int used)
      : options_(options), used_(used) {
    const Value platform = Section(document.root()).child("platform");
    name_.emplace(Section(platform).child("topology"));
    const auto overrides = Section(platform).maybe("override");
    if (overrides) overrides_ = Json::parse(to_json(overrides->node()).dump());
    topology_ = catalogue.topology(read<std::string>(*name_), *name_, overrides);
    if (is_graph_file(topology_.file.string())) name_->fail("a topology file, whose nodes have NICs");
    file_ = Document::read(topology_.file);
    if (overrides) {
      for (const auto& [pointer, value] : overrides->members()) file_.set(pointer, value.node());
    }
  }

  [[nodiscard]] SwitchedMachine machine() {
    if (options_.tree) return with_tree(*options_.tree);
    const bool has_groups = topology_.nodes_per_group > 0 && topology_.nodes;
    if (has_groups && !options_.nodes_per_switch && !options_.nodes) return as_it_is();
    if (!has_groups && topology_.kind != "star" && !options_.nodes_per_switch)
      name_->fail("a machine whose nodes stand under switches, or --nodes-per-switch or --topology-conf with it");
    if (!options_.nodes_per_switch) assume(fmt::format("{} nodes under a switch", usual_switch));
    const int each = options_.nodes_per_switch.value_or(usual_switch);
    const int all =
        options_.nodes.value_or(topology_.nodes ? layout_of(topology_).nodes_for(used_) : usual_machine * used_);
    if (!options_.nodes && !topology_.nodes) assume(fmt::format("a machine of {} nodes", all));
    SwitchTree tree;
    tree.pods.emplace_back();
    for (int first = 0; first < all; first += each) {
      SwitchTree::Leaf leaf;
      for (int node = first; node < std::min(all, first + each); ++node) leaf.nodes.push_back(std::to_string(node));
      tree.pods.back().push_back(std::move(leaf));
    }
    return with_tree(tree);
  }

 private:
  void assume(std::string what) { assumed_.push_back(std::move(what)); }

  [[nodiscard]] double thinned(std::size_t level) const {
    const auto& said = options_.oversubscription;
    return (1 - options_.others) / (level < said.size() ? said[level] : 1);
  }

  /// The file's own switches, their links thinned.
  [[nodiscard]] SwitchedMachine as_it_is() {
    SwitchedMachine machine;
    const int all = layout_of(topology_).nodes_for(used_);
    const int group = topology_.nodes_per_group;
    for (int node = 0; node < all; ++node) {
      if (node % group == 0) machine.switches.emplace_back();
      machine.switches.back().push_back(node);
    }
    machine.order.resize(static_cast<std::size_t>(all));
    std::iota(machine.order.begin(), machine.order.end(), 0);
    if (thinned(0) != 1) {
      std::vector<Value> rates;
      if (const auto network = file_.find("/network")) find_switch_rates(*network, rates);
      for (const Value& rate : rates)
        overrides_[rate.pointer()] = rate_in_gigabits(read<BytesPerSecond>(rate) * thinned(0));
      machine.overrides = overrides_.dump();
    }
    return machine;
  }

  [[nodiscard]] SwitchedMachine with_tree(const SwitchTree& tree) {
    if (!topology_.has_nic()) name_->fail("a topology whose nodes have NICs");
    if (options_.oversubscription.empty()) assume("no oversubscription (--oversubscription)");
    std::size_t leaf_size = 0;
    std::size_t pod_size = 0;
    for (const auto& pod : tree.pods) {
      pod_size = std::max(pod_size, pod.size());
      for (const SwitchTree::Leaf& leaf : pod) leaf_size = std::max(leaf_size, leaf.nodes.size());
    }
    SwitchedMachine machine;
    std::vector<std::string> names(tree.pods.size() * pod_size * leaf_size);
    for (std::size_t pod = 0; pod < tree.pods.size(); ++pod) {
      for (std::size_t leaf = 0; leaf < tree.pods[pod].size(); ++leaf) {
        machine.switches.emplace_back();
        for (std::size_t slot = 0; slot < tree.pods[pod][leaf].nodes.size(); ++slot) {
          const std::size_t node = (pod * pod_size + leaf) * leaf_size + slot;
          machine.switches.back().push_back(static_cast<int>(node));
          names[node] = tree.pods[pod][leaf].nodes[slot];
        }
      }
    }
    put_in_order(machine, names);
    put_network(tree, leaf_size, pod_size);
    overrides_["/nodes"] = names.size();
    machine.overrides = overrides_.dump();
    return machine;
  }

  /// As Slurm lists them.
  static void put_in_order(SwitchedMachine& machine, const std::vector<std::string>& names) {
    std::vector<int> sorted(names.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    const auto name = [&](int node) -> const std::string& { return names[static_cast<std::size_t>(node)]; };
    std::ranges::stable_sort(sorted, [&](int one, int other) { return comes_before(name(one), name(other)); });
    machine.order.resize(names.size());
    for (std::size_t place = 0; place < sorted.size(); ++place)
      machine.order[static_cast<std::size_t>(sorted[place])] = static_cast<int>(place);
    for (auto& nodes : machine.switches)
      std::ranges::sort(nodes, {}, [&](int node) { return machine.order[static_cast<std::size_t>(node)]; });
  }

  /// One link up from every switch, of the rate of all cables that it would have.
  void put_network(const SwitchTree& tree, std::size_t leaf_size, std::size_t pod_size) {
    Json kept = Json::object();
    for (const auto& [pointer, value] : overrides_.items()) {
      if (pointer != "/kind" && pointer != "/nodes" && !pointer.starts_with("/network")) kept[pointer] = value;
    }
    overrides_ = std::move(kept);
    Json link = Json::object();
    if (const auto protocol = file_.find("/node/nic/protocol"))
      link["protocol"] = Json::parse(to_json(protocol->node()).dump());
    double full = static_cast<double>(leaf_size * topology_.nics_at.size());
    const auto up = [&](std::size_t level) {
      link["rate"] = rate_in_gigabits(topology_.nic.wire * (full * thinned(level)));
      return link;
    };
    Json levels = Json::array({{{"name", "leaf"}, {"down", leaf_size}}});
    if (tree.leaves() > 1) levels.push_back({{"name", "above"}, {"parents", 1}, {"link", up(0)}});
    if (tree.pods.size() > 1) {
      levels.back()["down"] = pod_size;
      full *= static_cast<double>(pod_size) * thinned(0) / (1 - options_.others);
      levels.push_back({{"name", "top"}, {"parents", 1}, {"link", up(1)}});
    }
    overrides_["/kind"] = "fat_tree";
    overrides_["/network"] = {{"levels", levels}, {"routing", "spread"}};
  }

  const SwitchOptions& options_;
  int used_;
  std::optional<Value> name_;
  Json overrides_ = Json::object();
  Topology topology_;
  Document file_;
  std::vector<std::string> assumed_;

 public:
  [[nodiscard]] const std::vector<std::string>& assumed() const { return assumed_; }
};

}  // namespace

std::size_t SwitchedMachine::nodes() const {
  std::size_t count = 0;
  for (const auto& nodes : switches) count += nodes.size();
  return count;
}

SwitchedMachine switched_machine(const Document& document, const Catalogue& catalogue, const SwitchOptions& options,
                                 int used) {
  MachineBuilder builder(document, catalogue, options, used);
  SwitchedMachine machine = builder.machine();
  machine.assumed = builder.assumed();
  return machine;
}

}  // namespace farandole
