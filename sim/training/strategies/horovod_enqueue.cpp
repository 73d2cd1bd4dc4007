// How a response of Horovod gets onto the streams of a device: copies, collectives and stages of the hierarchy.
#include <algorithm>
#include <cmath>
#include <utility>

#include "training/passes.hpp"
#include "training/strategies/catalogue.hpp"
#include "training/strategies/horovod.hpp"

namespace farandole { inline namespace training {

/// In order, as the streams have them.
void Horovod::enqueue_ready(Engine& engine) {
  while (!queued_.empty() && data_ready(queued_.front())) {
    Response& response = queued_.front();
    response.from = response.from.max(when_ready(response));
    enqueue(engine, response);
    queued_.pop_front();
  }
}

/// Into or out of the fusion buffer. A tensor that travels alone is reduced in place.
Seconds Horovod::copying_time(const Response& response) const {
  constexpr double tensors_at_once = 160;  // BATCHED_D2D_CAPACITY, horovod/common/ops/cuda/cuda_kernels.h
  const auto tensors = static_cast<double>(response.gradients.size());
  if (tensors == 1) return Seconds(0);
  const double kernels = settings_.profile.batched_copies ? std::ceil(tensors / tensors_at_once) : tensors;
  return kernels * settings_.coder.start + 2.0 * response.size / settings_.memory_bandwidth;
}

void Horovod::enqueue(Engine& engine, const Response& response) {
  Seconds announced = latest(response.from);
  for (const int gradient : response.gradients) {
    announced = std::min(announced, Seconds(first_announced_[static_cast<std::size_t>(gradient)]));
  }
  const auto later = std::ranges::upper_bound(negotiations_, announced, {}, &Busy::from);
  negotiations_.insert(later, {announced, latest(response.from)});
  auto pieces = on_the_wire(settings_.compression, job_, response.gradients, ranks_, settings_.coder);
  const Seconds copy = copying_time(response);
  pieces.front().before += copy;
  pieces.back().after += copy;
  if (settings_.adasum) pieces.back().after += adasum_time(*settings_.adasum, response.size);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const WirePiece& piece = pieces[i];
    const bool is_last = i + 1 == pieces.size();
    if (piece.operation == Operation::allreduce && in_use_.hierarchical_allreduce) {
      reduce_through_hosts(engine, response, piece, is_last);
    } else {
      const bool tried = tuner_ && piece.operation == Operation::allgather && in_use_.hierarchical_allgather;
      add(engine, response, {piece.operation, piece.size, piece.before, piece.after, tried}, is_last);
    }
  }
  next_stream_ = (next_stream_ + 1) % last_of_stream_.size();
}

void Horovod::reduce_through_hosts(Engine& engine, const Response& response, const WirePiece& piece, bool is_last) {
  const HierarchySite& site = settings_.hierarchy;
  if (!site.homogeneous) {
    const Seconds copy = piece.size / site.to_host;
    blocking_ =
        add(engine, response, {piece.operation, piece.size, piece.before + copy, piece.after + copy, true}, is_last);
    return;
  }
  // What does not divide is reduced and broadcast beside; its few bytes are counted with the parts.
  const bool is_fused = response.gradients.size() > 1;
  const Bytes size = is_fused ? rounded_for_nodes(piece.size, job_.element, settings_.ranks_per_node) : piece.size;
  const Bytes part = size / settings_.ranks_per_node;
  const Seconds copy = part / site.to_host;
  if (settings_.ranks_per_node > 1) {
    add(engine, response, {Operation::reduce_scatter, size, piece.before, Seconds(0), false, Group::node}, false);
  }
  const Seconds before = settings_.ranks_per_node > 1 ? Seconds(0) : piece.before;
  const Seconds after = settings_.ranks_per_node > 1 ? Seconds(0) : piece.after;
  const bool ends = is_last && settings_.ranks_per_node == 1;
  blocking_ =
      add(engine, response, {Operation::allreduce, part, before + copy, after + copy, false, Group::across}, ends);
  if (settings_.ranks_per_node == 1) return;
  add(engine, response, {Operation::allgather, size, Seconds(0), piece.after, false, Group::node}, is_last);
}

TaskId Horovod::add(Engine& engine, const Response& response, const Collective& collective, bool is_last) {
  TaskId& before = last_of_stream_[next_stream_];
  std::vector<TaskId> after;
  if (last_of_stream_.size() > 1 && before >= 0) after.push_back(before);
  const TaskId task = engine.add({collective, response.from, std::move(after), communicating, {communicated}});
  before = task;
  in_flight_.push_back({task, collective.operation, collective.group == Group::across, is_last, response});
  return task;
}

}}  // namespace farandole::training
