#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "simulate/library/nccl_route.hpp"
#include "simulate/library/planners.hpp"
#include "simulate/library/rccl_model.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// What a run of RCCL knows: its place in the machine, and the model made for it.
struct RcclCommunicator {
  RcclCommunicator(const RcclTuning& tuning, const LibraryJob& of)
      : job(of),
        graph(survey_for_rccl(tuning, of.platform, of.placement, of.device.gfx)),
        model(tuning, graph, of.platform.devices_per_node, of.operation, of.device.gfx, of.scale.latency),
        root(static_cast<int>(std::ranges::find(graph.order, of.root) - graph.order.begin())) {}
  RcclCommunicator(const RcclCommunicator&) = delete;  // the model refers to the graph

  LibraryJob job;
  ChannelGraph graph;
  RcclModel model;
  int root;

  [[nodiscard]] NcclJob routing() const {
    return {job.platform, graph, xgmi_rate(job.device.gfx), job.operation, model.messages(), root, rccl_payload};
  }
};

NcclChoice choose(const RcclCommunicator& of, Bytes size) {
  if (of.job.operation != Operation::alltoall) return of.model.choose(size);
  NcclChoice messages{NcclAlgorithm::ring, NcclProtocol::simple, of.model.channels(), {}};
  messages.cost.base = of.model.message_base();
  return messages;
}

}  // namespace

Library rccl_library(const RcclTuning& tuning) {
  using enum Operation;
  return {"rccl-" + tuning.version,
          fmt::format("what RCCL {} picks by its cost model", tuning.tag),
          {allreduce, reduce_scatter, allgather, broadcast, reduce, alltoall},
          DeviceStack::rocm,
          [&tuning](const LibraryJob& job) {
            auto communicator = std::make_shared<const RcclCommunicator>(tuning, job);
            return LibraryPlanner{communicator->graph.order, [communicator](Bytes size) {
                                    return plan_as_nccl([=] { return communicator->routing(); },
                                                        choose(*communicator, size), communicator->job.charged, size);
                                  }};
          }};
}

}}  // namespace farandole::simulate
