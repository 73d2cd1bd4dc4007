// libFuzzer target: a platform file of SimGrid is a network with a way between all hosts, or refused.
#include "fuzz/graph_platform.hpp"
#include "platform/topologies/graph.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace farandole;
  fuzz::use_or_refuse([text = fuzz::text_of(data, size)] {
    RouteTable table = parse_simgrid(text, "fuzz.xml");
    const std::size_t hosts = table.hosts.size();
    fuzz::require(table.ways.size() == hosts * hosts, "there is a way for every pair of hosts");
    if (hosts > 0) fuzz::build_and_cross(plan_of(std::move(table)), hosts);
  });
  return 0;
}
