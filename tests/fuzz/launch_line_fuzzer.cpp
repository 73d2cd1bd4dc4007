// libFuzzer target: a launch line says where its ranks are to be placed, or is refused.
#include <set>

#include "config/document.hpp"
#include "fuzz/fuzz.hpp"
#include "platform/launch_line.hpp"

namespace {

using namespace farandole;

/// More would only be slow.
constexpr int most_ranks_to_place = 256;

void read_line(const std::string& text) {
  static const Document anything = Document::parse("{}", "fuzz.json");
  const LaunchLine line = parse_launch_line(text, anything.root());
  fuzz::require(line.ranks >= 1 && line.ranks_per_node.value_or(1) >= 1, "a line starts ranks");
  std::set<std::string> hosts;
  for (const Host& host : line.hosts) {
    fuzz::require(host.slots >= 1 && hosts.insert(host.name).second, "hosts have slots, and come once");
  }
  for (const auto& [name, value] : line.environment)
    fuzz::require(name.starts_with("HOROVOD_"), "settings are Horovod's");
  if (line.ranks > most_ranks_to_place) return;
  const Placement placement = place(line, PlacementRule{}, NodeLayout{4, 64, 8}, anything.root());
  const std::set<int> devices(placement.device_of_rank.begin(), placement.device_of_rank.end());
  fuzz::require(devices.size() == static_cast<std::size_t>(line.ranks), "every rank has a device of its own");
  fuzz::require(*devices.begin() >= 0 && *devices.rbegin() < 4 * 64, "which is one of the machine's");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::use_or_refuse([text = fuzz::text_of(data, size)] { read_line(text); });
  return 0;
}
