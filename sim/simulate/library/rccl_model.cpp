#include "simulate/library/rccl_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <ranges>
#include <utility>

#include "collective/specification.hpp"
#include "config/section.hpp"
#include "simulate/library/library_file.hpp"
#include "simulate/library/nccl_route.hpp"
#include "simulate/library/planners.hpp"

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
  machine.table = read_place(section.child("table"), "a table", tables);
  machine.has_ll128 = section.optional<bool>("ll128", false);
  if (const auto rings = section.maybe("rings")) {
    for (const Value& ring : rings->elements()) machine.rings.push_back(read<std::vector<int>>(ring));
  }
  const auto counted = std::views::iota(0, machine.devices);
  for (const auto& ring : machine.rings) {
    if (std::ranges::is_permutation(ring, counted)) continue;
    section.child("rings").fail("orders of all of a node's devices, which count from 0");
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

/// What `section` has of it.
static RcclTuning read_rccl_tuning(Section& section, const std::string& library) {
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
static BytesPerSecond xgmi_rate(const std::string& gfx) {
  return gfx == "gfx942" ? 64_GBps : 50_GBps;
}

namespace {

constexpr std::array tried_algorithms{NcclAlgorithm::tree, NcclAlgorithm::ring};

/// src/graph/search.cc: speedArrayIntra and speedArrayInter, of machines that RCCL searches.
constexpr std::array rccl_tried_rates{48., 24., 20., 18., 15., 12., 10., 9., 7., 6., 5., 4., 3., 2.4, 1.2, .24, .12};

/// What a thread at the NIC takes for a step (getNetOverhead), with AMD's processors; of Simple three times that.
double posting(NcclProtocol protocol) {
  return protocol == NcclProtocol::simple ? 6 : 2;
}

/// All devices of every node take part, wired as that machine's.
bool is_that(const RcclMachine& machine, const ChannelGraph& graph, int devices_per_node, const std::string& gfx) {
  return machine.gfx == gfx && machine.devices == devices_per_node && graph.ranks == graph.nodes * devices_per_node &&
         machine.nics == graph.nics && !graph.is_switched && machine.fewest == graph.nvlinks;
}

const RcclMachine* known_machine(const RcclTuning& tuning, const ChannelGraph& graph, int devices_per_node,
                                 const std::string& gfx) {
  const auto found = std::ranges::find_if(
      tuning.machines, [&](const RcclMachine& machine) { return is_that(machine, graph, devices_per_node, gfx); });
  return found == tuning.machines.end() ? nullptr : &*found;
}

/// GB/s that the search finds.
double searched(const ChannelGraph& graph, double link) {
  const double inside =
      graph.inside == LinkClass::nvlink ? graph.nvlinks * link : tried_rate(rccl_tried_rates, graph.pci.si() / 1e9);
  if (graph.nodes == 1) return inside;
  const double between = graph.nics * tried_rate(rccl_tried_rates, graph.nic.si() / 1e9);
  return graph.ranks > graph.nodes ? std::min(inside, between) : between;
}

std::size_t place_of(Bytes size) {
  const double units = std::floor(size.si() / 64);
  const double place = units < 1 ? 0 : std::floor(std::log2(units));
  return static_cast<std::size_t>(std::min(place, static_cast<double>(PerSize{}.size() - 1)));
}

}  // namespace

ChannelGraph survey_for_rccl(const RcclTuning& tuning, const Platform& platform, const Placement& placement,
                             const std::string& gfx, double scale) {
  ChannelGraph graph = survey_channels(platform, placement, xgmi_rate(gfx), scale);
  const RcclMachine* machine = known_machine(tuning, graph, platform.devices_per_node, gfx);
  if (machine != nullptr) graph.rings = machine->rings;
  return graph;
}

RcclModel::RcclModel(const RcclTuning& tuning, const ChannelGraph& graph, int devices_per_node, Operation operation,
                     const std::string& gfx)
    : tuning_(tuning),
      graph_(graph),
      machine_(known_machine(tuning, graph, devices_per_node, gfx)),
      table_(tuning.tables.at(machine_ == nullptr ? 0 : machine_->table)),
      operation_(operation),
      is_mi300_(gfx == "gfx942") {
  constexpr int most_channels = 32;  // of machines that are searched: twice CHANNEL_LIMIT
  const int searched_channels = std::max(1, graph.nodes == 1 ? graph.nvlinks : graph.nics);
  channels_ = machine_ == nullptr ? std::min(2 * searched_channels, most_channels) : machine_->channels;
  const double link = tuning.link_counted(gfx);
  bus_ = machine_ == nullptr ? searched(graph, link) : machine_->most * link;
}

double RcclModel::hop(LinkClass over, NcclAlgorithm algorithm, NcclProtocol protocol) const {
  return table_.hop.at(static_cast<std::size_t>(over)).at(index_of(algorithm)).at(index_of(protocol));
}

double RcclModel::share(NcclAlgorithm algorithm, NcclProtocol protocol) const {
  const double share = table_.share.at(graph_.nodes <= 2 ? 0 : 1).at(index_of(algorithm)).at(index_of(protocol));
  const bool is_lifted = is_mi300_ && graph_.nodes == 1 && has_root(operation_) && protocol == NcclProtocol::ll;
  return is_lifted ? 1.65 * share : share;
}

bool RcclModel::is_there(NcclAlgorithm algorithm, NcclProtocol protocol) const {
  if (protocol == NcclProtocol::ll128 && (machine_ == nullptr || !machine_->has_ll128)) return false;
  if (algorithm == NcclAlgorithm::ring) return true;
  const bool is_left_out = is_mi300_ && graph_.nodes == 1 && protocol == NcclProtocol::simple;
  return operation_ == Operation::allreduce && !is_left_out;
}

double RcclModel::ring_hops(NcclProtocol protocol) const {
  return ring_waits(operation_, graph_, tuning_.ring_steps, protocol, std::bind_front(&RcclModel::hop, this),
                    posting(protocol));
}

double RcclModel::hops(NcclAlgorithm algorithm, NcclProtocol protocol) const {
  if (algorithm == NcclAlgorithm::tree) {
    return 2 * ((graph_.ranks_per_node() - 1) * hop(graph_.inside, algorithm, protocol) +
                std::floor(std::log2(graph_.nodes)) * hop(LinkClass::net, algorithm, protocol));
  }
  if (!has_root(operation_)) return ring_hops(protocol);
  // Rings that were laid by hand count as the same everywhere.
  return rooted_waits(graph_, machine_ != nullptr || channels_ == 2, protocol, std::bind_front(&RcclModel::hop, this));
}

NcclCost RcclModel::by_table(NcclAlgorithm algorithm, NcclProtocol protocol) const {
  if (!is_there(algorithm, protocol)) return {};
  const double of_data = algorithm == NcclAlgorithm::tree
                             ? .5
                             : graph_.ranks / static_cast<double>(ring_steps_of(operation_, graph_.ranks));
  return {Seconds(1e-6 * tuning_.base.at(index_of(algorithm)).at(index_of(protocol))),
          Seconds(1e-6 * hops(algorithm, protocol)), BytesPerSecond(1e9 * bus_ * share(algorithm, protocol) * of_data)};
}

NcclCost RcclModel::cost(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const {
  NcclCost cost = by_table(algorithm, protocol);
  if (algorithm == NcclAlgorithm::tree) cost.rate *= table_.tree_by_size.at(index_of(protocol)).at(place_of(size));
  const bool is_ring_between = algorithm == NcclAlgorithm::ring && graph_.nodes > 1;
  if (is_ring_between) cost.rate *= table_.ring_by_size.at(index_of(protocol)).at(place_of(size));
  return cost;
}

NcclCost RcclModel::taken(NcclAlgorithm algorithm, NcclProtocol protocol) const {
  NcclCost cost = by_table(algorithm, protocol);
  if (has_root(operation_)) cost.hops = Seconds(1e-6 * ring_hops(protocol));  // whatever counts for the choice
  const double uncounted = graph_.longest_chain() + 1 - graph_.ranks_per_node();
  if (algorithm == NcclAlgorithm::tree)
    cost.hops += Seconds(2e-6 * uncounted * hop(graph_.inside, algorithm, protocol));
  if (protocol == NcclProtocol::ll128 && cost.rate > BytesPerSecond(0)) {
    cost.rate = by_table(algorithm, NcclProtocol::simple).rate * rccl_payload.at(index_of(protocol));
  }
  return cost;
}

const RcclRanges* RcclModel::ranges() const {
  const auto known = tuning_.ranges.find(operation_);
  const bool counts = is_mi300_ && machine_ != nullptr && graph_.nodes > 1;
  return counts && known != tuning_.ranges.end() ? &known->second : nullptr;
}

NcclProtocol RcclModel::by_range(NcclProtocol picked, Bytes size) const {
  const RcclRanges* known = ranges();
  if (known == nullptr) return picked;
  const bool is_allreduce = operation_ == Operation::allreduce;
  const Bytes part = is_allreduce ? size : size / graph_.ranks;
  // "since Tree has special behavior at 2 nodes"
  const double more = is_allreduce && graph_.nodes > 2 ? 3.8 : 1;
  if (part > known->ll128.above && part <= known->ll128.until * more) return NcclProtocol::ll128;
  return part > known->ll.above && part <= known->ll.until ? NcclProtocol::ll : NcclProtocol::simple;
}

/// MSCCL's allreduces of eight MI300X of a node, on by default there: everybody sends everybody its part, and then the
/// sum of its own (tools/msccl-algorithms: allreduce-allpairs-8n-*.xml; LL to 1 MiB, then Simple). From when each of 32
/// chunks has 32 bytes; assumed to 4 MiB: the file goes to 20, but what was measured at 8 is a ring's time.
bool RcclModel::is_by_pairs(Bytes size) const {
  const bool is_there = is_mi300_ && machine_ != nullptr && graph_.nodes == 1 && operation_ == Operation::allreduce;
  return is_there && size >= 1_KiB && size <= 4_MiB;
}

NcclChoice RcclModel::choose(Bytes size) const {
  if (is_by_pairs(size)) {
    const NcclProtocol by = size < 1_MiB ? NcclProtocol::ll : NcclProtocol::simple;
    NcclChoice pairs{NcclAlgorithm::ring, by, channels_, by_table(NcclAlgorithm::ring, by)};
    pairs.cost.hops /= graph_.ranks - 1;
    pairs.cost.rate = BytesPerSecond(5e8 * bus_ * rccl_payload.at(index_of(by)) * graph_.ranks / (graph_.ranks - 1));
    return pairs;
  }
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  Seconds least = Seconds::infinity();
  for (const NcclAlgorithm way : tried_algorithms) {
    for (const NcclProtocol by : nccl_protocols()) {
      const NcclCost reckoned = cost(way, by, size);
      if (reckoned.rate == BytesPerSecond(0) || reckoned.time(size) >= least) continue;
      least = reckoned.time(size);
      algorithm = way;
      protocol = by;
    }
  }
  protocol = by_range(protocol, size);
  NcclChoice choice{algorithm, protocol, channels_for(algorithm, protocol, size), taken_at(algorithm, protocol, size)};
  choice.cost.hops += waits_at_nics(graph_, operation_, choice, size);
  return choice;
}

/// The factors by size are AMD's measurements, each relative to the best of its size: so what they make it pick takes
/// no longer than any other way does by the tables without them.
NcclCost RcclModel::taken_at(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const {
  NcclCost least = taken(algorithm, protocol);
  for (const NcclAlgorithm way : tried_algorithms) {
    for (const NcclProtocol by : nccl_protocols()) {
      const NcclCost other = taken(way, by);
      if (other.rate > BytesPerSecond(0) && other.time(size) < least.time(size)) least = other;
    }
  }
  return least;
}

/// A channel less, as long as its threads would have less than they should (src/enqueue.cc: topoGetAlgoInfo).
int RcclModel::channels_for(NcclAlgorithm algorithm, NcclProtocol protocol, Bytes size) const {
  constexpr double threads = 256;
  double bytes = protocol == NcclProtocol::simple ? 64 : 8;
  if (algorithm == NcclAlgorithm::ring && protocol == NcclProtocol::ll) bytes *= graph_.ranks;
  if (const RcclRanges* known = ranges(); known != nullptr && protocol != NcclProtocol::simple) {
    const int tuned = (protocol == NcclProtocol::ll ? known->ll : known->ll128).per_thread;
    if (tuned > 0) bytes = tuned * graph_.ranks;
  }
  return static_cast<int>(std::clamp(std::floor(size.si() / (threads * bytes)), 1.0, double(channels_)));
}

Seconds RcclModel::message_base() const {
  return Seconds(1e-6 * tuning_.base.at(index_of(NcclAlgorithm::ring)).at(index_of(NcclProtocol::simple)));
}

NcclMessages RcclModel::messages() const {
  const auto waiting = [&](LinkClass over) {
    return Seconds(1e-6 * hop(over, NcclAlgorithm::tree, NcclProtocol::simple));
  };
  const Seconds half(1e-6 * posting(NcclProtocol::simple) / 2);
  const double counted =
      tried_rate(tried_between(70, 70), graph_.nic.si() / 1e9) * graph_.nics / graph_.fewest_per_node;
  // Eight MI355X have 46 of a NIC's 50 GB/s: posting chunk by chunk limits nothing.
  return {BytesPerSecond(1e9 * bus_), waiting(graph_.inside),
          waiting(LinkClass::net),    {half, half},
          Bytes::infinity(),          graph_.nodes > 1 ? BytesPerSecond(1e9 * counted) : BytesPerSecond::infinity()};
}

namespace {

/// What a run of RCCL knows: its place in the machine, and the model made for it.
struct RcclCommunicator {
  RcclCommunicator(std::shared_ptr<const RcclTuning> of_release, const LibraryJob& of)
      : tuning(std::move(of_release)),
        job(of),
        graph(survey_for_rccl(*tuning, of.platform, of.placement, of.device.gfx, of.scale.rate)),
        model(*tuning, graph, of.platform.devices_per_node, of.operation, of.device.gfx),
        root(static_cast<int>(std::ranges::find(graph.order, of.root) - graph.order.begin())) {}
  RcclCommunicator(const RcclCommunicator&) = delete;  // the model refers to the graph

  std::shared_ptr<const RcclTuning> tuning;
  LibraryJob job;
  ChannelGraph graph;
  RcclModel model;
  int root;
  std::shared_ptr<NcclLayouts> laid = std::make_shared<NcclLayouts>();

  [[nodiscard]] NcclJob routing() const {
    return {job.platform,
            graph,
            xgmi_rate(job.device.gfx) * job.scale.rate,
            job.operation,
            scaled(model.messages(), job.scale),
            root,
            rccl_payload,
            laid};
  }
};

NcclChoice choose(const RcclCommunicator& of, Bytes size) {
  if (of.job.operation != Operation::alltoall) return of.model.choose(size);
  NcclChoice messages{NcclAlgorithm::ring, NcclProtocol::simple, of.model.channels(), {}};
  messages.cost.rate = of.model.messages().most;
  messages.cost.base = of.model.message_base() + waits_at_nics(of.graph, of.job.operation, messages, size);
  return messages;
}

}  // namespace

void add_rccl(Section& section, Library& library) {
  library.rccl = std::make_shared<const RcclTuning>(read_rccl_tuning(section, library.name));
  library.needs = DeviceStack::rocm;
  library.planner = [tuning = library.rccl](const LibraryJob& job) {
    auto communicator = std::make_shared<const RcclCommunicator>(tuning, job);
    const auto choices =
        without_cliffs([=](Bytes size) { return choose(*communicator, size); }, job.operation == Operation::alltoall);
    return LibraryPlanner{communicator->graph.order, [=](Bytes size) {
                            return plan_as_nccl([=] { return communicator->routing(); },
                                                choices(size / communicator->job.scale.rate), communicator->job, size);
                          }};
  };
}

}}  // namespace farandole::simulate
