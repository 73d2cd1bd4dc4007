#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "simulate/library/library_file.hpp"
#include "simulate/library/nccl_measured.hpp"
#include "simulate/library/nccl_route.hpp"
#include "simulate/library/planners.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// What a run of NCCL knows: its place in the machine, and the model made for it.
struct NcclCommunicator {
  NcclCommunicator(std::shared_ptr<const NcclTuning> of_release, const LibraryJob& of)
      : tuning(std::move(of_release)),
        job(of),
        nvlink(nvlink_rate(of.device.compute_capability)),
        graph(survey_channels(of.platform, of.placement, nvlink, of.scale.rate)),
        model(*tuning, graph, of.operation, of.device.compute_capability,
              {of.in_place, of.devices_per_process > 1, of.switches_add}),
        share(measured_share({*tuning, graph, of})),
        root(static_cast<int>(std::ranges::find(graph.order, of.root) - graph.order.begin())) {}
  NcclCommunicator(const NcclCommunicator&) = delete;  // the model refers to the graph

  std::shared_ptr<const NcclTuning> tuning;
  LibraryJob job;
  BytesPerSecond nvlink;
  ChannelGraph graph;
  NcclModel model;
  double share;  // measured of what the model counts on, of messages
  int root;
  std::shared_ptr<NcclLayouts> laid = std::make_shared<NcclLayouts>();

  [[nodiscard]] NcclJob routing(NcclProtocol protocol) const {
    return {job.platform,
            graph,
            nvlink * job.scale.rate,
            job.operation,
            scaled(model.messages(protocol, share), job.scale),
            root,
            nccl_payload,
            laid};
  }
};

NcclChoice choice_by_nccl(const NcclCommunicator& of, Bytes size) {
  if (of.job.operation == Operation::alltoall) {
    NcclChoice choice = of.model.message_choice(size);
    const NcclMessages messages = of.model.messages(choice.protocol, of.share);
    choice.cost.hops = messages.inside;
    choice.cost.rate = std::min(messages.most, messages.wire);
    return choice;
  }
  const auto measured = measured_choice({*of.tuning, of.graph, of.job}, of.model, size);
  return measured ? *measured : of.model.choose(size);
}

/// What the links carry of that way at most, with nothing else on them.
BytesPerSecond wire_rate(const NcclCommunicator& communicator, NcclChoice choice) {
  constexpr Bytes large = 1_GiB;
  choice.cost = {Seconds(0), Seconds(0), BytesPerSecond(1e15)};  // nothing but the links limits
  const auto clock =
      make_collective_clock(Fidelity::analytic, route_as_nccl(communicator.routing(choice.protocol), choice, large));
  return large / latest(clock->completion_times(large, all_at(communicator.graph.ranks, Seconds(0))));
}

LibraryWay way(const NcclChoice& choice, BytesPerSecond wire) {
  return {name(choice.algorithm), name(choice.protocol), choice.cost.base + choice.cost.hops, choice.cost.rate, wire};
}

using WireRates = std::map<std::pair<NcclAlgorithm, NcclProtocol>, BytesPerSecond>;

/// Of every way there is.
WireRates wire_rates(const NcclCommunicator& communicator) {
  WireRates rates;
  for (const NcclAlgorithm algorithm : nccl_algorithms()) {
    for (const NcclProtocol protocol : nccl_protocols()) {
      const NcclChoice choice = communicator.model.choice_of(algorithm, protocol, 1_GiB);
      if (choice.cost.rate > BytesPerSecond(0)) rates[{algorithm, protocol}] = wire_rate(communicator, choice);
    }
  }
  return rates;
}

LibraryWays nccl_ways(const std::shared_ptr<const NcclCommunicator>& communicator) {
  return [communicator, rates = wire_rates(*communicator)](Bytes size) {
    const NcclChoice chosen = communicator->model.choose(size);
    std::vector<LibraryWay> all{way(chosen, rates.at({chosen.algorithm, chosen.protocol}))};
    for (const auto& [other, wire] : rates) {
      if (other == std::pair(chosen.algorithm, chosen.protocol)) continue;
      NcclChoice choice = communicator->model.choice_of(other.first, other.second, size);
      choice.cost = communicator->model.taken(choice, size);
      all.push_back(way(choice, wire));
    }
    return all;
  };
}

}  // namespace

NcclMessages scaled(NcclMessages messages, const NetworkScale& scale) {
  for (Seconds* time : {&messages.inside, &messages.between, &messages.proxy.send, &messages.proxy.receive})
    *time *= scale.latency;
  messages.most *= scale.rate;
  messages.wire *= scale.rate;
  return messages;
}

NcclChoices without_cliffs(NcclChoices choose, bool are_messages) {
  auto all = std::make_shared<std::map<Bytes, NcclChoice>>();
  return [=, choose = std::move(choose)](Bytes size) {
    constexpr int steps = 16;  // which makes 2.2 of a size, and 7.1 of its time
    constexpr double more = 1.05;
    constexpr double longer = 1.13;
    const auto [known, is_new] = all->try_emplace(size);
    NcclChoice& choice = known->second;
    if (!is_new) return choice;
    choice = choose(size);
    const Seconds own = choice.cost.time(size);
    double share = 1;
    double allowed = 1;
    for (int step = 0; step < steps; ++step) {
      size *= more;
      allowed *= longer;
      share = std::min(share, allowed * (choose(size).cost.time(size) / own));
    }
    const auto [base, hops, rate] = choice.cost;
    const double rest = are_messages ? 1 : share;
    choice.cost = {are_messages ? std::max(base - own * (1 - share), Seconds(0)) : base * share, hops * rest,
                   rate / rest};
    return choice;
  };
}

LibraryPlan plan_as_nccl(const std::function<NcclJob()>& job, NcclChoice choice, const LibraryJob& of, Bytes size) {
  choice.cost.base *= of.scale.latency * of.charged.latency;
  choice.cost.hops *= of.scale.latency * of.charged.latency;
  choice.cost.rate *= of.scale.rate * of.charged.rate;
  const std::string algorithm = schedule_name(job(), choice);
  return {{algorithm, name(choice.protocol), choice.channels},
          choice.cost.base,
          fmt::format("{} {} {} {} {}", algorithm, name(choice.protocol), nccl_segments(size), choice.cost.hops.si(),
                      choice.cost.rate.si()),
          [=] { return route_as_nccl(job(), choice, size); },
          {},
          is_nvls(choice.algorithm)};
}

void add_nccl(Section& section, Library& library) {
  constexpr std::array decisions{"cost_model", "rings"};
  const auto decision = section.maybe("decision");
  library.needs = DeviceStack::cuda;
  if (decision && read_place(*decision, "a way to decide", decisions) == 1) {
    library.planner = nccl_of_rings();
    return;
  }
  library.nccl = std::make_shared<const NcclTuning>(read_nccl_tuning(section, library.name));
  library.planner = [tuning = library.nccl](const LibraryJob& job) {
    auto communicator = std::make_shared<const NcclCommunicator>(tuning, job);
    const auto choices = without_cliffs([=](Bytes size) { return choice_by_nccl(*communicator, size); },
                                        job.operation == Operation::alltoall);
    return LibraryPlanner{communicator->graph.order, [=](Bytes size) {
                            const NcclChoice choice = choices(size / communicator->job.scale.rate);
                            return plan_as_nccl([=] { return communicator->routing(choice.protocol); }, choice,
                                                communicator->job, size);
                          }};
  };
  library.ways = [tuning = library.nccl](const LibraryJob& job) {
    return nccl_ways(std::make_shared<const NcclCommunicator>(tuning, job));
  };
  library.links = [](const LibraryJob& job) {
    const ChannelGraph graph = survey_channels(job.platform, job.placement, nvlink_rate(job.device.compute_capability));
    return MeasuredLinks{graph.nvlinks, graph.nvlinks > 0 ? BytesPerSecond(0) : graph.pci, graph.nics, graph.nic};
  };
}

}}  // namespace farandole::simulate
