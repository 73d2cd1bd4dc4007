#include "training/strategies/horovod.hpp"

#include <algorithm>
#include <utility>

#include "training/fusion.hpp"
#include "training/passes.hpp"
#include "training/random.hpp"
#include "training/strategies/catalogue.hpp"

namespace farandole { inline namespace training {

namespace {

/// Horovod's split_list over the parameters as the model has them: parts that differ by one tensor at most, longer ones
/// first. Gradients come in the opposite order.
std::vector<int> split_into_groups(int gradients, int groups) {
  std::vector<int> group_of(static_cast<std::size_t>(gradients));
  const int longer = gradients % groups;
  int next = 0;
  for (int group = 0; group < groups; ++group) {
    const int size = gradients / groups + (group < longer ? 1 : 0);
    for (int i = 0; i < size; ++i) group_of[static_cast<std::size_t>(gradients - 1 - next++)] = group;
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
    group_size_.assign(static_cast<std::size_t>(settings_.groups), 0);
    for (const int group : group_of_) ++group_size_[static_cast<std::size_t>(group)];
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
  last_of_stream_.assign(static_cast<std::size_t>(settings_.profile.streams), -1);
  add_passes(engine, job_, moments);
}

void Horovod::on(Engine& engine, const Happening& happening) {
  const int gradient = happening.note.index;
  switch (static_cast<Told>(happening.note.what)) {
    case announced:
      return on_announced(engine, gradient, happening.moments);
    case ready:
      ready_[static_cast<std::size_t>(gradient)] = happening.moments;
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
  const auto group = static_cast<std::size_t>(group_of_[static_cast<std::size_t>(gradient)]);
  incomplete_[group].push_back(gradient);
  if (std::ssize(incomplete_[group]) < group_size_[group]) return;
  announce(engine, std::exchange(incomplete_[group], {}), moments);
}

void Horovod::announce(Engine& engine, std::vector<int> gradients, const RankTimes& moments) {
  for (const int gradient : gradients) {
    first_announced_[static_cast<std::size_t>(gradient)] = moments.minCoeff();
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
  return static_cast<int>(
      std::ranges::count_if(gradients, [&](int gradient) { return !cached_[static_cast<std::size_t>(gradient)]; }));
}

void Horovod::receive_responses(Engine& engine) {
  std::vector<Bytes> sizes;
  for (const int gradient : negotiated_) {
    const auto index = static_cast<std::size_t>(gradient);
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
      response.gradients.push_back(negotiated_[static_cast<std::size_t>(member)]);
      response.size += sizes[static_cast<std::size_t>(member)];
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
    const auto group = [&](std::size_t i) { return group_of_[static_cast<std::size_t>(negotiated_[i])]; };
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
  return std::ranges::all_of(response.gradients,
                             [&](int gradient) { return ready_[static_cast<std::size_t>(gradient)].size() > 0; });
}

RankTimes Horovod::when_ready(const Response& response) const {
  RankTimes ready = all_at(ranks_, Seconds(0));
  for (const int gradient : response.gradients) ready = ready.max(ready_[static_cast<std::size_t>(gradient)]);
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
  record_communication(*flight, times);
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

}}  // namespace farandole::training
