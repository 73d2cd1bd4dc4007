#include "training/strategies/horovod.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "simulate/routed_schedule.hpp"
#include "training/passes.hpp"
#include "training/random.hpp"
#include "training/strategies/catalogue.hpp"

namespace farandole { inline namespace training {
namespace {

/// Horovod's split_list over the parameters as the model has them: parts that differ by one tensor at most, longer ones
/// first. Gradients come in the opposite order.
std::vector<int> split_into_groups(int gradients, int groups) {
  std::vector<int> group_of(as_index(gradients));
  const int longer = gradients % groups;
  int next = 0;
  for (int group = 0; group < groups; ++group) {
    const int size = gradients / groups + (group < longer ? 1 : 0);
    for (int i = 0; i < size; ++i) group_of[as_index(gradients - 1 - next++)] = group;
  }
  return group_of;
}

TuningSample as_set(const HorovodProfile& profile) {
  return {profile.hierarchical_allreduce, profile.hierarchical_allgather, profile.cache_capacity > 0, profile.cycle,
          profile.fusion_threshold};
}

}  // namespace

Horovod::Horovod(const Job& job, int ranks, HorovodSettings settings, Timeline* timeline)
    : job_(job),
      ranks_(ranks),
      settings_(std::move(settings)),
      timeline_(timeline),
      in_use_(as_set(settings_.profile)),
      thread_moment_(all_at(ranks, Seconds(0))),
      cached_(job.gradients.size(), false),
      synchronised_(all_at(ranks, Seconds(0))) {
  if (settings_.groups > 0) {
    group_of_ = split_into_groups(static_cast<int>(std::ssize(job.gradients)), settings_.groups);
    group_size_.assign(as_index(settings_.groups), 0);
    for (const int group : group_of_) ++group_size_[as_index(group)];
  }
  if (settings_.tunable && ranks > 1 && !job.gradients.empty()) {
    tuner_.emplace(*settings_.profile.autotune, *settings_.tunable, in_use_, settings_.seed);
    in_use_ = tuner_->values();
  }
}

void Horovod::begin(Engine& engine, const RankTimes& moments) {
  const std::size_t gradients = job_.gradients.size();
  remaining_ = ranks_ > 1 ? static_cast<int>(gradients) : 0;
  ready_.assign(gradients, {});
  first_announced_.assign(gradients, 0);
  negotiations_.clear();
  incomplete_.assign(group_size_.size(), {});
  last_of_stream_.assign(as_index(settings_.profile.streams), -1);
  add_passes(engine, job_, moments);
}

void Horovod::on(Engine& engine, const Happening& happening) {
  const int gradient = happening.note.index;
  switch (static_cast<Told>(happening.note.what)) {
    case announced:
      return on_announced(engine, gradient, happening.moments);
    case ready:
      ready_[as_index(gradient)] = happening.moments;
      enqueue_ready(engine);
      if (thread_ == Thread::performing) perform(engine);
      return;
    case timer:
      return on_timer(engine);
    case communicated:
      return on_communicated(engine, happening.task, *happening.times);
  }
}

void Horovod::on_announced(Engine& engine, int gradient, const RankTimes& moments) {
  if (ranks_ == 1) return;
  if (group_of_.empty()) return announce(engine, {gradient}, moments);
  const auto group = as_index(group_of_[as_index(gradient)]);
  incomplete_[group].push_back(gradient);
  if (std::ssize(incomplete_[group]) < group_size_[group]) return;
  announce(engine, std::exchange(incomplete_[group], {}), moments);
}

void Horovod::announce(Engine& engine, std::vector<int> gradients, const RankTimes& moments) {
  for (const int gradient : gradients) {
    first_announced_[as_index(gradient)] = moments.minCoeff();
    announced_.push_back(gradient);
    record_announced(gradient, moments);
  }
  if (thread_ == Thread::sleeping && !awaiting_timer_) sleep_until_next_pass(engine);
}

void Horovod::sleep_until_next_pass(Engine& engine) {
  if (next_pass_ < engine.now()) {  // idle passes went by
    const Seconds idle = negotiation(0) + telling_time(settings_.profile.negotiation, settings_.control, ranks_);
    const Seconds cycle = in_use_.cycle_time;
    const Seconds beat = settings_.profile.sleeps_after_pass ? cycle + idle : std::max(cycle, idle);
    next_pass_ = engine.now() + beat * uniform_deviate(mix(settings_.seed) ^ drawn_++);
  }
  awaiting_timer_ = true;
  engine.call_at(std::max(next_pass_, engine.now()), {timer});
}

void Horovod::on_timer(Engine& engine) {
  awaiting_timer_ = false;
  if (thread_ == Thread::sleeping) {
    start_pass(engine);
  } else if (thread_ == Thread::negotiating) {
    receive_responses(engine);
  }
}

void Horovod::start_pass(Engine& engine) {
  pass_start_ = engine.now();
  negotiated_ = std::exchange(announced_, {});
  thread_ = Thread::negotiating;
  if (timeline_ != nullptr) timeline_->instant("", "CYCLE_START", pass_start_);
  awaiting_timer_ = true;
  engine.call_at(pass_start_ + negotiation(uncached(negotiated_)), {timer});
}

int Horovod::uncached(const std::vector<int>& gradients) const {
  if (!has_cache()) return static_cast<int>(std::ssize(gradients));
  return static_cast<int>(std::ranges::count_if(gradients, [&](int gradient) { return !cached_[as_index(gradient)]; }));
}

void Horovod::receive_responses(Engine& engine) {
  std::vector<Bytes> sizes;
  for (const int gradient : negotiated_) {
    const auto index = as_index(gradient);
    sizes.push_back(compressed_size(settings_.compression, job_, job_.gradients[index]));
    // What was used least recently makes room, and tensors come around in a circle: a cache that is too small is
    // useless.
    cached_[index] = std::ssize(job_.gradients) <= settings_.profile.cache_capacity;
    if (timeline_ != nullptr) {
      timeline_->span(job_.gradients[index].name, "NEGOTIATE_ALLREDUCE", Seconds(first_announced_[index]),
                      engine.now());
    }
  }
  to_perform_.clear();
  performed_ = 0;
  for (const auto& group : fused(sizes)) {
    Response response;
    for (const int member : group) {
      response.gradients.push_back(negotiated_[as_index(member)]);
      response.size += sizes[as_index(member)];
    }
    to_perform_.push_back(std::move(response));
  }
  thread_ = Thread::performing;
  thread_moment_ = all_at(ranks_, engine.now());
  perform(engine);
}

/// Of what was negotiated, whose sizes these are: groups of it. HOROVOD_DISABLE_GROUP_FUSION keeps Horovod's own groups
/// apart.
std::vector<std::vector<int>> Horovod::fused(const std::vector<Bytes>& sizes) const {
  HorovodProfile profile = settings_.profile;
  profile.fusion_threshold = in_use_.fusion_threshold;
  profile.hierarchical_allreduce = in_use_.hierarchical_allreduce;
  const Bytes buffer = fusion_buffer(profile, settings_.ranks_per_node);
  if (group_of_.empty() || profile.fuses_groups) return fuse(sizes, buffer);
  std::vector<std::vector<int>> all;
  for (std::size_t begin = 0, end = 0; begin < negotiated_.size(); begin = end) {
    const auto group = [&](std::size_t i) { return group_of_[as_index(negotiated_[i])]; };
    while (end < negotiated_.size() && group(end) == group(begin)) ++end;
    const std::vector<Bytes> own(sizes.begin() + static_cast<std::ptrdiff_t>(begin),
                                 sizes.begin() + static_cast<std::ptrdiff_t>(end));
    for (std::vector<int>& part : fuse(own, buffer)) {
      for (int& member : part) member += static_cast<int>(begin);
      all.push_back(std::move(part));
    }
  }
  return all;
}

void Horovod::tune() {
  if (!tuner_) return;
  Bytes bytes;
  for (const Response& response : to_perform_) bytes += response.size;
  tuner_->observe(negotiated_, bytes, Seconds(thread_moment_[0]));
  in_use_ = tuner_->values();
}

bool Horovod::data_ready(const Response& response) const {
  return std::ranges::all_of(response.gradients, [&](int gradient) { return ready_[as_index(gradient)].size() > 0; });
}

RankTimes Horovod::when_ready(const Response& response) const {
  RankTimes ready = all_at(ranks_, Seconds(0));
  for (const int gradient : response.gradients) ready = ready.max(ready_[as_index(gradient)]);
  return ready;
}

void Horovod::perform(Engine& engine) {
  while (performed_ < to_perform_.size()) {
    Response& response = to_perform_[performed_];
    if (blocking_ || (holds_thread() && !data_ready(response))) return;
    ++performed_;
    take_up(engine, response);
  }
  if (blocking_) return;
  thread_moment_ += telling_time(settings_.profile.negotiation, settings_.control, ranks_).si();
  tune();
  thread_ = Thread::sleeping;
  const Seconds free = latest(thread_moment_);
  const Seconds cycle = in_use_.cycle_time;
  next_pass_ = settings_.profile.sleeps_after_pass ? free + cycle : std::max(free, pass_start_ + cycle);
  if (!announced_.empty()) sleep_until_next_pass(engine);
}

void Horovod::take_up(Engine& engine, Response& response) {
  thread_moment_ += telling_time(settings_.profile.negotiation, settings_.control, ranks_).si();
  const double reached = thread_moment_[0];
  if (holds_thread()) thread_moment_ = thread_moment_.max(when_ready(response));
  response.enqueued = Seconds(thread_moment_[0]);
  response.from = thread_moment_;
  if (holds_thread()) {
    record_wait(response, reached);
    return enqueue(engine, response);
  }
  queued_.push_back(response);
  enqueue_ready(engine);
}

void Horovod::on_communicated(Engine& engine, TaskId task, const TaskTimes& times) {
  const auto flight = std::ranges::find(in_flight_, task, &Flight::task);
  record_communication(*flight, times.first_rank);
  if (flight->last) remaining_ -= static_cast<int>(flight->response.gradients.size());
  in_flight_.erase(flight);
  synchronised_ = synchronised_.max(times.end);
  if (blocking_ != task) return;
  blocking_.reset();
  thread_moment_ = thread_moment_.max(times.end);
  perform(engine);
}

std::optional<RankTimes> Horovod::synchronised() const {
  if (remaining_ > 0) return std::nullopt;
  return synchronised_;
}

// How a response of Horovod gets onto the streams of a device: copies, collectives and stages of the hierarchy.

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
    announced = std::min(announced, Seconds(first_announced_[as_index(gradient)]));
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

// What Horovod's own timeline shows of rank 0.

/// One tick per rank, as in Horovod's own timeline; of very many ranks an even sample, to keep traces small.
void Horovod::record_announced(int gradient, const RankTimes& moments) const {
  constexpr int most_ticks = 64;
  if (timeline_ == nullptr) return;
  const int stride = (ranks_ + most_ticks - 1) / most_ticks;
  for (int rank = 0; rank < ranks_; rank += stride) {
    timeline_->instant(job_.gradients[as_index(gradient)].name, std::to_string(rank), Seconds(moments[rank]));
  }
}

void Horovod::record_wait(const Response& response, double reached) const {
  if (timeline_ == nullptr) return;
  for (const int gradient : response.gradients) {
    const auto index = as_index(gradient);
    const std::string& name = job_.gradients[index].name;
    const double data = std::max(reached, ready_[index][0]);
    timeline_->span(name, "WAIT_FOR_DATA", Seconds(reached), Seconds(data));
    timeline_->span(name, "WAIT_FOR_OTHER_TENSOR_DATA", Seconds(data), Seconds(thread_moment_[0]));
  }
}

void Horovod::record_communication(const Flight& flight, const Stages& times) const {
  if (timeline_ == nullptr) return;
  const Response& response = flight.response;
  const bool copies = flight.by_mpi || response.gradients.size() > 1;
  const std::string buffer = flight.by_mpi ? "HOST_BUFFER" : "FUSION_BUFFER";
  const std::string what = activity(flight.by_mpi ? "MPI" : settings_.library, flight.operation);
  for (const int gradient : response.gradients) {
    const std::string& name = job_.gradients[as_index(gradient)].name;
    timeline_->span(name, "QUEUE", response.enqueued, times.begin);
    if (copies) timeline_->span(name, "MEMCPY_IN_" + buffer, times.begin, times.reducing);
    timeline_->span(name, what, times.reducing, times.reduced);
    if (copies) timeline_->span(name, "MEMCPY_OUT_" + buffer, times.reduced, times.end);
  }
}

}}  // namespace farandole::training
