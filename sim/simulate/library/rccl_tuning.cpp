#include "simulate/library/rccl_tuning.hpp"

#include <algorithm>

#include "config/listed_members.hpp"
#include "simulate/library/library_file.hpp"

namespace farandole { inline namespace simulate {
namespace {

constexpr std::array of_rccl{"tree", "ring"};

template <std::size_t N>
auto by_algorithm(std::string_view unit) {
  return [unit](const Value& value) {
    return read_each(value, of_rccl, [unit](const Value& row) { return numbers_in<N>(row, unit); });
  };
}

std::array<PerSize, 3> read_sizes(const Value& value) {
  return read_each(value, nccl_protocol_names,
                   [](const Value& row) { return numbers_in<std::tuple_size_v<PerSize>>(row, ""); });
}

RcclTable read_table(const Value& value) {
  Section section = read_block(value);
  const auto times = by_algorithm<3>("us");
  const RcclTable table{{times(section.child("fabric")), times(section.child("pcie")), times(section.child("network"))},
                        read_each(section.child("share"), std::array{"two_nodes", "more"}, by_algorithm<3>("")),
                        read_sizes(section.child("tree_by_size")),
                        read_sizes(section.child("ring_by_size"))};
  section.finish();
  return table;
}

RcclMachine read_machine(const Value& value, const std::vector<std::string>& tables) {
  Section section = read_block(value);
  RcclMachine machine{section.required<std::string>("gfx"),          read_at_least(section.child("devices"), 1),
                      read_at_least(section.child("nics"), 0),       read_at_least(section.child("fewest_links"), 1),
                      read_at_least(section.child("most_links"), 1), 0,
                      read_at_least(section.child("channels"), 1)};
  const Value table = section.child("table");
  const auto found = std::ranges::find(tables, read<std::string>(table));
  if (found == tables.end()) table.fail_unknown("a table", tables);
  machine.table = static_cast<std::size_t>(found - tables.begin());
  machine.has_ll128 = section.optional<bool>("ll128", false);
  if (const auto rings = section.maybe("rings")) {
    for (const Value& ring : rings->elements()) machine.rings.push_back(read<std::vector<int>>(ring));
  }
  for (const auto& ring : machine.rings) {
    std::vector<int> sorted = ring;
    std::ranges::sort(sorted);
    bool is_order = static_cast<int>(ring.size()) == machine.devices;
    for (std::size_t i = 0; i < sorted.size(); ++i) is_order = is_order && sorted[i] == static_cast<int>(i);
    if (!is_order) section.child("rings").fail("orders of all of a node's devices, which count from 0");
  }
  section.finish();
  return machine;
}

RcclRange read_range(const Value& value) {
  Section section(value);
  RcclRange range{section.required<Bytes>("above"), section.required<Bytes>("up_to")};
  if (const auto least = section.maybe("per_thread")) range.per_thread = read_at_least(*least, 1);
  section.finish();
  return range;
}

std::map<Operation, RcclRanges> read_ranges(const Value& value) {
  Section section = read_block(value);
  std::map<Operation, RcclRanges> ranges;
  for (const Operation operation : {Operation::reduce_scatter, Operation::allgather, Operation::allreduce}) {
    const auto [ll, ll128] = read_each(section.child(name(operation)), std::array{"LL", "LL128"}, read_range);
    ranges[operation] = {ll, ll128};
  }
  section.finish();
  return ranges;
}

}  // namespace

RcclTuning read_rccl_tuning(Section& section, const std::string& library) {
  RcclTuning tuning;
  tuning.library = library;
  Section latency = read_block(section.child("latency"));
  tuning.base = by_algorithm<3>("us")(latency.child("base"));
  tuning.ring_steps =
      latency.required<bool>("waits_as_trees") ? NcclRingSteps::net_as_trees : NcclRingSteps::net_and_posting;
  latency.finish();
  Section links = read_block(section.child("links"));
  for (const auto& [gfx, rate] : listed_members(links.child("counted"))) tuning.counted[gfx] = number_in(rate, "GB/s");
  tuning.counted_otherwise = number_in(links.child("other"), "GB/s");
  links.finish();
  std::vector<std::string> tables;
  for (const auto& [name, table] : listed_members(section.child("tables"))) {
    tables.push_back(name);
    tuning.tables.push_back(read_table(table));
  }
  if (tables.empty()) section.child("tables").fail("a table");
  for (const auto& [name, machine] : listed_members(section.child("machines"))) {
    tuning.machines.push_back(read_machine(machine, tables));
  }
  if (const auto ranges = section.maybe("ranges")) tuning.ranges = read_ranges(*ranges);
  return tuning;
}

double RcclTuning::link_counted(const std::string& gfx) const {
  const auto known = std::ranges::find_if(counted, [&](const auto& row) { return gfx.starts_with(row.first); });
  return known == counted.end() ? counted_otherwise : known->second;
}

/// MI300X: 128 GB/s in both directions together; MI250X and before: 100.
BytesPerSecond xgmi_rate(const std::string& gfx) {
  return gfx == "gfx942" ? 64_GBps : 50_GBps;
}

}}  // namespace farandole::simulate
