#include "simulate/library/nccl_planner.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "simulate/library/nccl_route.hpp"

namespace farandole {
namespace {

/// What a run of NCCL knows: its place in the machine, and the model made for it.
struct Communicator {
  Communicator(const NcclTuning& tuning, const LibraryJob& of)
      : job(of),
        nvlink(nvlink_rate(of.compute_capability)),
        graph(survey_channels(of.platform, of.placement, nvlink)),
        model(tuning, graph, of.operation, of.compute_capability),
        root(static_cast<int>(std::ranges::find(graph.order, of.root) - graph.order.begin())) {}
  Communicator(const Communicator&) = delete;  // the model refers to the graph

  LibraryJob job;
  BytesPerSecond nvlink;
  ChannelGraph graph;
  NcclModel model;
  int root;

  [[nodiscard]] NcclJob routing() const { return {job.platform, graph, nvlink, job.operation, root}; }
};

LibraryPlan plan(const std::shared_ptr<const Communicator>& communicator, Bytes size) {
  NcclChoice choice = communicator->model.choose(size);
  if (communicator->job.operation == Operation::alltoall) {
    choice = {NcclAlgorithm::ring, NcclProtocol::simple, communicator->model.channels(), {}};
    choice.cost.base = communicator->model.message_base();
  }
  const std::string algorithm = schedule_name(communicator->routing(), choice);
  return {{algorithm, name(choice.protocol), choice.channels},
          choice.cost.base,
          fmt::format("{} {} {} {} {}", algorithm, name(choice.protocol), nccl_segments(size), choice.cost.hops.si(),
                      choice.cost.rate.si()),
          [=] { return route_as_nccl(communicator->routing(), communicator->model, choice, size); }};
}

}  // namespace

Library nccl_library(const NcclTuning& tuning) {
  using enum Operation;
  std::vector<Operation> operations{allreduce, reduce_scatter, allgather, broadcast, reduce};
  if (tuning.version != "2.5") operations.push_back(alltoall);  // ncclSend and ncclRecv came with 2.7
  return {"nccl-" + tuning.version, fmt::format("what NCCL {} picks by its cost model", tuning.tag),
          std::move(operations), true, [&tuning](const LibraryJob& job) {
            auto communicator = std::make_shared<const Communicator>(tuning, job);
            return LibraryPlanner{communicator->graph.order,
                                  [communicator](Bytes size) { return plan(communicator, size); }};
          }};
}

}  // namespace farandole
