#include "simulate/library/nccl_measured.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <utility>

namespace farandole { inline namespace simulate {
namespace {

/// By switches between nodes that add up.
bool is_added_up(NcclAlgorithm algorithm, int nodes) {
  return is_collnet(algorithm) || (algorithm == NcclAlgorithm::nvls && nodes > 1);
}

/// What NCCL found on the machine as it was measured: its links may have been changed since.
ChannelGraph as_measured(ChannelGraph graph, const LibraryTimes& times) {
  graph.ranks = times.ranks;
  graph.nodes = times.nodes;
  graph.fullest = 1;
  graph.sharp = std::ranges::any_of(times.pieces, [&](const LibraryPiece& piece) {
    return is_added_up(nccl_algorithm(piece.algorithm), times.nodes);
  });
  if (const auto& links = times.links) {
    graph.nvlinks = links->nvlinks;
    graph.inside = links->nvlinks > 0 ? LinkClass::nvlink : LinkClass::pci;
    if (links->pci > BytesPerSecond(0)) graph.pci = links->pci;
    graph.nics = links->nics;
    graph.nic = links->nic;
  }
  return graph;
}

/// What so many times the ranks wait for on a network (each other's traffic, the slowest of them) says nothing of a
/// few.
constexpr int many_more = 16;

double distance(const LibraryTimes& times, int ranks) {
  return std::abs(std::log(static_cast<double>(times.ranks) / ranks));
}

/// What a run takes by what was measured at its ranks: that way, its latency and rate, changed as the model's are where
/// links were.
std::optional<NcclChoice> choice_as(const LibraryTimes& times, const NcclModel& model, Bytes size,
                                    const NcclModel& there) {
  const LibraryPiece& piece = times.piece_of(size);
  NcclChoice choice = model.choice_of(nccl_algorithm(piece.algorithm), nccl_protocol(piece.protocol), size);
  if (choice.cost.rate == BytesPerSecond(0)) return std::nullopt;
  const NcclCost known = there.cost(choice.algorithm, choice.protocol, size);
  const Seconds latency = known.base + known.hops;
  choice.cost = {choice.cost.base / latency * piece.latency, choice.cost.hops / latency * piece.latency,
                 choice.cost.rate / known.rate * piece.rate};
  return choice;
}

/// The size of those that a piece was measured at which is nearest to this one.
Bytes nearest_size(const LibraryTimes& times, std::size_t piece, Bytes size) {
  const bool is_last = piece + 1 == times.pieces.size();
  const Bytes most = is_last ? Bytes::infinity() : times.pieces[piece + 1].from;
  return std::clamp(size, times.pieces[piece].from, most);
}

/// What was measured of a way: its piece, and the size at which that is asked.
struct Known {
  const LibraryPiece* piece;
  Bytes size;
};

double away(Bytes one, Bytes other) {
  return std::abs(std::log((one.si() + 1) / (other.si() + 1)));
}

/// Of the pieces that go that way the one nearest to this size; null: none does.
Known known_of(const NcclChoice& way, const LibraryTimes& times, Bytes size) {
  Known nearest{nullptr, size};
  for (std::size_t i = 0; i < times.pieces.size(); ++i) {
    const LibraryPiece& piece = times.pieces[i];
    if (nccl_algorithm(piece.algorithm) != way.algorithm || nccl_protocol(piece.protocol) != way.protocol) continue;
    const Bytes there = nearest_size(times, i, size);
    if (nearest.piece == nullptr || away(there, size) < away(nearest.size, size)) nearest = {&piece, there};
  }
  return nearest;
}

/// How much the delays of sizes that went a way say of one that is so many times larger or smaller (a logarithm): all
/// up to 4 times, nothing from 64 times on.
double share_at(double distance) {
  return std::clamp(1 - (distance - std::log(4)) / std::log(16), 0.0, 1.0);
}

/// As many times longer than by the model as what was measured there.
double longer_than(const Known& known, const NcclChoice& way, const NcclModel& there) {
  return (known.piece->latency + known.size / known.piece->rate) / there.taken(way, known.size).time(known.size);
}

/// What it takes by what was measured at other ranks, of another release or of another operation: as many times longer
/// than by the model as there, of the same way: what delays one way says nothing of another. Of its own operation,
/// sizes none of which went that way there count as what did; so they do, the more the further they are from those
/// that went it: what delays some MB says nothing of GB.
NcclChoice choice_by(const LibraryTimes& times, const NcclRun& run, const NcclModel& model, Bytes size,
                     const NcclModel& there) {
  NcclChoice choice = model.choose(size);
  const NcclChoice way = there.choice_of(choice.algorithm, choice.protocol, size);
  const Known known = known_of(choice, times, size);
  const bool is_known = known.piece != nullptr && way.cost.rate > BytesPerSecond(0);
  const bool is_same = times.operation == run.job.operation;
  if (!is_known && !is_same) return choice;
  double longer = is_known ? longer_than(known, way, there) : 1;
  if (is_same) {
    const double near = is_known ? share_at(away(known.size, size)) : 0;
    const double as_any = longer_than({&times.piece_of(size), size}, there.choose(size), there);
    longer = std::pow(longer, near) * std::pow(as_any, 1 - near);
  }
  choice.cost = {choice.cost.base * longer, choice.cost.hops * longer, choice.cost.rate / longer};
  return choice;
}

/// The release that was measured.
const NcclTuning& tuning_of(const LibraryTimes& times, const NcclTuning& otherwise) {
  const Library* measured = find_library(times.library);
  return measured == nullptr || measured->nccl == nullptr ? otherwise : *measured->nccl;
}

std::optional<NcclChoice> choice_from(const LibraryTimes& times, const NcclRun& run, const NcclModel& model,
                                      Bytes size) {
  const ChannelGraph measured_on = as_measured(run.graph, times);
  const NcclModel there(tuning_of(times, run.tuning), measured_on, times.operation, run.job.device.compute_capability,
                        {false, times.devices_per_process > 1});
  const bool is_that_run =
      times.operation == run.job.operation && times.ranks == run.graph.ranks && times.library == run.tuning.library;
  // What switches add up now says nothing of it was measured where they did not.
  const bool is_new = !measured_on.sharp && is_added_up(model.choose(size).algorithm, run.graph.nodes);
  if (is_that_run && times.nodes == run.graph.nodes && !is_new) return choice_as(times, model, size, there);
  return choice_by(times, run, model, size, there);
}

/// Operations whose times say something of this one, the most telling first: itself; what is the same, backwards;
/// allreduce, which goes all ways. Not alltoall, which is sent as messages.
std::vector<Operation> made_of_the_same_hops(Operation operation) {
  using enum Operation;
  std::vector<Operation> all{operation};
  if (operation == allgather) all.push_back(reduce_scatter);
  if (operation == reduce_scatter) all.push_back(allgather);
  for (const Operation other : {allreduce, allgather, reduce_scatter, broadcast, reduce}) {
    if (std::ranges::find(all, other) == all.end()) all.push_back(other);
  }
  return all;
}

constexpr std::string_view of_nccl = "nccl-2.";

/// 18 of "nccl-2.18".
int minor_of(const std::string& library) {
  return library.starts_with(of_nccl) ? std::atoi(library.c_str() + of_nccl.size()) : 0;
}

bool is_driven_as(const LibraryTimes& times, const MeasuredRun& run) {
  return (times.devices_per_process > 1) == (run.devices_per_process > 1);
}

/// As times_for, of the releases that `counts` says and one operation.
std::vector<const LibraryTimes*> times_of(const std::vector<LibraryTimes>& measured, const MeasuredRun& run,
                                          Operation operation,
                                          const std::function<bool(const std::string& library)>& counts) {
  std::vector<const LibraryTimes*> fitting;
  for (const LibraryTimes& times : measured) {
    const bool is_alone = times.nodes == 1;
    if (is_alone && run.ranks > times.ranks) continue;  // a node of more devices may be another machine
    const bool is_of_it = times.operation == operation && is_alone == (run.nodes == 1) && is_driven_as(times, run);
    if (is_of_it && counts(times.library)) fitting.push_back(&times);
  }
  const int minor = minor_of(run.library);
  std::ranges::stable_sort(fitting, {}, [&](const LibraryTimes* times) {
    return std::pair(distance(*times, run.ranks), std::abs(minor_of(times->library) - minor));
  });
  if (fitting.empty() || fitting.front()->ranks > many_more * run.ranks) return {};
  if (fitting.front()->ranks == run.ranks) return {fitting.front()};
  const bool is_above = fitting.front()->ranks > run.ranks;
  const auto other = std::ranges::find_if(fitting, [&](const LibraryTimes* times) {
    return is_above ? times->ranks < run.ranks : times->ranks > run.ranks;
  });
  if (other == fitting.end()) return {fitting.front()};
  return {fitting.front(), *other};
}

MeasuredRun measured_run(const NcclRun& run) {
  return {run.tuning.library, run.job.operation, run.graph.ranks, run.graph.nodes, run.job.devices_per_process};
}

}  // namespace

std::vector<const LibraryTimes*> times_for(const std::vector<LibraryTimes>& measured, const MeasuredRun& run) {
  const std::vector<Operation> operations = made_of_the_same_hops(run.operation);
  const auto first_of = [&](const std::function<bool(const std::string&)>& counts) {
    std::vector<const LibraryTimes*> found;
    for (std::size_t i = 0; found.empty() && i < operations.size(); ++i) {
      found = times_of(measured, run, operations[i], counts);
    }
    return found;
  };
  auto own = first_of([&](const std::string& of) { return of == run.library; });
  if (!own.empty()) return own;
  return first_of([](const std::string& of) { return of.starts_with("nccl-"); });
}

double measured_share(const NcclRun& run) {
  const auto all = times_for(run.job.platform.transport.library_times, measured_run(run));
  if (all.empty() || run.graph.nodes == 1) return 1;
  const LibraryTimes& times = *all.front();
  const auto is_ring = [](const LibraryPiece& piece) {
    return nccl_algorithm(piece.algorithm) == NcclAlgorithm::ring &&
           nccl_protocol(piece.protocol) == NcclProtocol::simple;
  };
  const auto last = std::find_if(times.pieces.rbegin(), times.pieces.rend(), is_ring);
  if (last == times.pieces.rend()) return 1;
  const ChannelGraph measured_on = as_measured(run.graph, times);
  const NcclModel there(tuning_of(times, run.tuning), measured_on, times.operation, run.job.device.compute_capability,
                        {false, times.devices_per_process > 1});
  return std::min(1.0, last->rate / there.cost(NcclAlgorithm::ring, NcclProtocol::simple, 1_GiB).rate);
}

std::optional<NcclChoice> measured_choice(const NcclRun& run, const NcclModel& model, Bytes size) {
  const auto times = times_for(run.job.platform.transport.library_times, measured_run(run));
  if (times.empty()) return std::nullopt;
  std::optional<NcclChoice> choice = choice_from(*times.front(), run, model, size);
  if (!choice || times.size() < 2) return choice;
  const std::optional<NcclChoice> other = choice_from(*times.back(), run, model, size);
  if (!other) return choice;
  const double near = distance(*times.front(), run.graph.ranks);
  const double weight = near / (near + distance(*times.back(), run.graph.ranks));
  const double more = std::pow(other->cost.time(size) / choice->cost.time(size), weight);
  choice->cost = {choice->cost.base * more, choice->cost.hops * more, choice->cost.rate / more};
  return choice;
}

}}  // namespace farandole::simulate
