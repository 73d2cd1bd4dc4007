#include "machine_network.hpp"

#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "config/section.hpp"
#include "units/format.hpp"

namespace farandole {
namespace {

constexpr const char* nic_rate_pointer = "/node/nic/rate";
constexpr const char* nics_pointer = "/node/nics_at";

/// Where an object has a member of that name, at whatever depth.
void find_members(const Value& value, const std::string& name, std::vector<Value>& found) {
  if (value.is_array()) {
    for (const Value& element : value.elements()) find_members(element, name, found);
  }
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.members()) {
    if (key == name) found.push_back(member);
    find_members(member, name, found);
  }
}

MachineNetwork::Json copied(const Value& value) {
  return MachineNetwork::Json::parse(to_json(value.node()).dump());
}

}  // namespace

std::string in_gigabits(BytesPerSecond rate) {
  return fmt::format("{:.6g} Gbit/s", rate.si() * 8 / 1e9);
}

MachineNetwork::MachineNetwork(Document topology, const Value& where) : topology_(std::move(topology)) {
  const auto rate = topology_.find(nic_rate_pointer);
  if (!rate) where.fail("a topology whose nodes have NICs");
  nic_ = read<BytesPerSecond>(*rate);
}

std::size_t nics_of(const Document& topology) {
  const auto places = topology.find(nics_pointer);
  return places ? places->elements().size() : 1;
}

void MachineNetwork::scale(Json& overrides, double relative) const {
  overrides[nic_rate_pointer] = in_gigabits(nic_ * relative);
  scale_switches(overrides, relative);
}

void MachineNetwork::thin(Json& overrides, double relative, int nodes) const {
  if (has_switches()) return scale_switches(overrides, relative);
  // As it is written: a leaf has a whole number of spines only by the rate that is read.
  const std::string rate = in_gigabits(nic_ * relative);
  Json link{{"rate", rate}};
  if (const auto protocol = topology_.find("/node/nic/protocol")) link["protocol"] = copied(*protocol);
  overrides["/kind"] = "leaf_spine";
  overrides["/network"] = {{"nodes_per_leaf", nodes_of_assumed_leaves(nodes)},
                           {"oversubscription", nic_ / std::get<BytesPerSecond>(parse_quantity<BytesPerSecond>(rate))},
                           {"link", link},
                           {"routing", "spread"}};
}

void MachineNetwork::keep_nics(Json& overrides, std::size_t count) const {
  const auto all = topology_.find(nics_pointer);
  Json places = Json::array();
  for (std::size_t nic = 0; all && nic < count; ++nic)
    places.push_back(read<std::string>(all->elements()[nic * nics() / count]));
  overrides[nics_pointer] = places;
}

void MachineNetwork::speak(Json& overrides, const std::string& protocol) const {
  const Json speaking{{"name", protocol}};
  overrides["/node/nic/protocol"] = speaking;
  std::vector<Value> protocols;
  if (const auto network = topology_.find("/network")) find_members(*network, "protocol", protocols);
  for (const Value& link : protocols) overrides[link.pointer()] = speaking;
  const auto transport = topology_.find("/transport");
  if (!transport) return;
  Json same = copied(*transport);
  same["name"] = fmt::format("{}, here over {}", same.value("name", "as the file has it"), protocol);
  same["comment"] = "The constants are those of the file, assumed to be the same over this protocol.";
  same.erase("sharp");
  overrides["/transport"] = same;
}

void MachineNetwork::scale_switches(Json& overrides, double relative) const {
  const auto network = topology_.find("/network");
  if (!network) return;
  std::vector<Value> rates;
  find_members(*network, "rate", rates);
  for (const Value& rate : rates) {
    if (rate.is_string()) overrides[rate.pointer()] = in_gigabits(read<BytesPerSecond>(rate) * relative);
  }
}

}  // namespace farandole
