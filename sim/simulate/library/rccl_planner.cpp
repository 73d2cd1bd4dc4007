#include <algorithm>
#include <memory>
#include <utility>

#include "simulate/library/nccl_route.hpp"
#include "simulate/library/planners.hpp"
#include "simulate/library/rccl_model.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// What a run of RCCL knows: its place in the machine, and the model made for it.
struct RcclCommunicator {
  RcclCommunicator(std::shared_ptr<const RcclTuning> of_release, const LibraryJob& of)
      : tuning(std::move(of_release)),
        job(of),
        graph(survey_for_rccl(*tuning, of.platform, of.placement, of.device.gfx)),
        model(*tuning, graph, of.platform.devices_per_node, of.operation, of.device.gfx, of.scale.latency),
        root(static_cast<int>(std::ranges::find(graph.order, of.root) - graph.order.begin())) {}
  RcclCommunicator(const RcclCommunicator&) = delete;  // the model refers to the graph

  std::shared_ptr<const RcclTuning> tuning;
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

void add_rccl(Section& section, Library& library) {
  library.rccl = std::make_shared<const RcclTuning>(read_rccl_tuning(section, library.name));
  library.needs = DeviceStack::rocm;
  library.planner = [tuning = library.rccl](const LibraryJob& job) {
    auto communicator = std::make_shared<const RcclCommunicator>(tuning, job);
    return LibraryPlanner{communicator->graph.order, [communicator](Bytes size) {
                            return plan_as_nccl([=] { return communicator->routing(); }, choose(*communicator, size),
                                                communicator->job.charged, size);
                          }};
  };
}

}}  // namespace farandole::simulate
