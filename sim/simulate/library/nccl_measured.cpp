#include "simulate/library/nccl_measured.hpp"

#include <cmath>

namespace farandole {
namespace {

NcclAlgorithm algorithm_of(const LibraryPiece& piece) {
  return piece.algorithm == "tree" ? NcclAlgorithm::tree : NcclAlgorithm::ring;
}

NcclProtocol protocol_of(const LibraryPiece& piece) {
  for (const NcclProtocol protocol : {NcclProtocol::ll, NcclProtocol::ll128}) {
    if (piece.protocol == name(protocol)) return protocol;
  }
  return NcclProtocol::simple;
}

/// What NCCL found on the machine as it was measured: its links have been scaled since.
ChannelGraph unscaled(ChannelGraph graph, double rate) {
  graph.nvlinks = static_cast<int>(std::lround(graph.nvlinks / rate));
  graph.pci /= rate;
  graph.nic /= rate;
  return graph;
}

}  // namespace

const LibraryTimes* nearest_times(const std::vector<LibraryTimes>& measured, const std::string& library,
                                  Operation operation, int ranks, int nodes) {
  const LibraryTimes* nearest = nullptr;
  double least = 0;
  for (const LibraryTimes& times : measured) {
    const bool is_alone = times.nodes == 1;
    if (times.library != library || times.operation != operation || is_alone != (nodes == 1)) continue;
    const double distance = std::abs(std::log(static_cast<double>(times.ranks) / ranks));
    if (nearest != nullptr && distance >= least) continue;
    nearest = &times;
    least = distance;
  }
  return nearest;
}

std::optional<NcclChoice> measured_choice(const NcclRun& run, const NcclModel& model, Bytes size) {
  const LibraryTimes* times = nearest_times(run.job.platform.transport.library_times, "nccl-" + run.tuning.version,
                                            run.job.operation, run.graph.ranks, run.graph.nodes);
  if (times == nullptr) return std::nullopt;
  const LibraryPiece& piece = times->piece_of(size);
  NcclChoice choice = model.choice_of(algorithm_of(piece), protocol_of(piece), size);
  if (choice.cost.rate == BytesPerSecond(0)) return std::nullopt;
  ChannelGraph measured_on = unscaled(run.graph, run.job.scale.rate);
  measured_on.ranks = times->ranks;
  measured_on.nodes = times->nodes;
  const NcclCost there = NcclModel(run.tuning, measured_on, run.job.operation, run.job.compute_capability)
                             .cost(choice.algorithm, choice.protocol, size);
  const Seconds latency = there.base + there.hops;
  choice.cost = {choice.cost.base / latency * piece.latency, choice.cost.hops / latency * piece.latency,
                 choice.cost.rate / there.rate * piece.rate};
  return choice;
}

}  // namespace farandole
