#include "training/strategies/horovod.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "training/fusion.hpp"
#include "training/random.hpp"
#include "training/strategies/catalogue.hpp"

namespace farandole {

Seconds negotiation_time(const ControlPlane& control, int ranks, int uncached, bool has_cache) {
  const double depth = std::bit_width(static_cast<unsigned>(ranks - 1));  // ceil(log2 n)
  const Seconds bits = has_cache ? control.latency * (2 * depth) : Seconds(0);
  if (has_cache && uncached == 0) return bits;
  return bits + control.latency * (4 * depth) + control.per_message * (static_cast<double>(ranks) * uncached);
}

Horovod::Horovod(const Job& job, int ranks, HorovodSettings settings, Timeline* timeline)
    : job_(job),
      ranks_(ranks),
      settings_(std::move(settings)),
      timeline_(timeline),
      thread_moment_(all_at(ranks, Seconds(0))),
      cached_(job.gradients.size(), false),
      synchronised_(all_at(ranks, Seconds(0))) {}

void Horovod::begin(Executor& executor, const RankTimes& moments) {
  const std::size_t gradients = job_.gradients.size();
  remaining_ = ranks_ > 1 ? static_cast<int>(gradients) : 0;
  ready_.assign(gradients, {});
  first_announced_.assign(gradients, 0);
  executor.compute_from(moments);
}

void Horovod::on_announced(Executor& executor, int gradient, const RankTimes& moments) {
  if (ranks_ == 1) return;
  first_announced_[static_cast<std::size_t>(gradient)] = moments.minCoeff();
  announced_.push_back(gradient);
  record_announced(gradient, moments);
  if (thread_ == Thread::sleeping && !awaiting_timer_) sleep_until_next_pass(executor);
}

void Horovod::sleep_until_next_pass(Executor& executor) {
  if (next_pass_ < executor.now()) {  // idle passes went by
    const Seconds idle = negotiation_time(settings_.control, ranks_, 0, settings_.profile.cache_capacity > 0);
    const Seconds beat =
        settings_.profile.sleeps_after_pass ? settings_.profile.cycle + idle : std::max(settings_.profile.cycle, idle);
    next_pass_ = executor.now() + beat * uniform_deviate(mix(settings_.seed) ^ drawn_++);
  }
  awaiting_timer_ = true;
  executor.wake_at(std::max(next_pass_, executor.now()));
}

void Horovod::on_timer(Executor& executor) {
  awaiting_timer_ = false;
  if (thread_ == Thread::sleeping) {
    start_pass(executor);
  } else if (thread_ == Thread::negotiating) {
    receive_responses(executor);
  }
}

void Horovod::start_pass(Executor& executor) {
  pass_start_ = executor.now();
  negotiated_ = std::exchange(announced_, {});
  thread_ = Thread::negotiating;
  if (timeline_ != nullptr) timeline_->instant("", "CYCLE_START", pass_start_);
  awaiting_timer_ = true;
  executor.wake_at(pass_start_ + negotiation_time(settings_.control, ranks_, uncached(negotiated_),
                                                  settings_.profile.cache_capacity > 0));
}

int Horovod::uncached(const std::vector<int>& gradients) const {
  return static_cast<int>(
      std::ranges::count_if(gradients, [&](int gradient) { return !cached_[static_cast<std::size_t>(gradient)]; }));
}

void Horovod::receive_responses(Executor& executor) {
  std::vector<Bytes> sizes;
  for (const int gradient : negotiated_) {
    const auto index = static_cast<std::size_t>(gradient);
    sizes.push_back(compressed_size(settings_.compression, job_, job_.gradients[index]));
    // What was used least recently makes room, and tensors come around in a circle: a cache that is too small is
    // useless.
    cached_[index] = std::ssize(job_.gradients) <= settings_.profile.cache_capacity;
    if (timeline_ != nullptr) {
      timeline_->span(job_.gradients[index].name, "NEGOTIATE_ALLREDUCE", Seconds(first_announced_[index]),
                      executor.now());
    }
  }
  to_perform_.clear();
  performed_ = 0;
  for (const auto& group : fuse(sizes, settings_.profile.fusion_threshold, settings_.profile.fuses_past_misfits)) {
    Response response;
    for (const int member : group) {
      response.gradients.push_back(negotiated_[static_cast<std::size_t>(member)]);
      response.size += sizes[static_cast<std::size_t>(member)];
    }
    to_perform_.push_back(std::move(response));
  }
  thread_ = Thread::performing;
  thread_moment_ = all_at(ranks_, executor.now());
  perform(executor);
}

bool Horovod::data_ready(const Response& response) const {
  return std::ranges::all_of(response.gradients,
                             [&](int gradient) { return ready_[static_cast<std::size_t>(gradient)].size() > 0; });
}

void Horovod::perform(Executor& executor) {
  while (performed_ < to_perform_.size() && data_ready(to_perform_[performed_])) {
    Response& response = to_perform_[performed_++];
    const double reached = thread_moment_[0];
    for (const int gradient : response.gradients) {
      thread_moment_ = thread_moment_.max(ready_[static_cast<std::size_t>(gradient)]);
    }
    response.enqueued = Seconds(thread_moment_[0]);
    record_wait(response, reached);
    enqueue(executor, response);
  }
  if (performed_ < to_perform_.size()) return;
  thread_ = Thread::sleeping;
  const Seconds free = latest(thread_moment_);
  next_pass_ = settings_.profile.sleeps_after_pass ? free + settings_.profile.cycle
                                                   : std::max(free, pass_start_ + settings_.profile.cycle);
  if (!announced_.empty()) sleep_until_next_pass(executor);
}

void Horovod::enqueue(Executor& executor, const Response& response) {
  auto pieces = on_the_wire(settings_.compression, job_, response.gradients, ranks_, settings_.memory_bandwidth);
  // A tensor that travels alone is reduced in place.
  const Seconds copy = response.gradients.size() > 1 ? 2.0 * response.size / settings_.memory_bandwidth : Seconds(0);
  pieces.front().before += copy;
  pieces.back().after += copy;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const WirePiece& piece = pieces[i];
    const int work = executor.enqueue({piece.size, piece.before, piece.after, thread_moment_, piece.operation});
    in_flight_.push_back({work, piece.operation, i + 1 == pieces.size(), response});
  }
}

void Horovod::on_ready(Executor& executor, int gradient, const RankTimes& moments) {
  ready_[static_cast<std::size_t>(gradient)] = moments;
  if (thread_ == Thread::performing) perform(executor);
}

void Horovod::on_communicated(Executor& /*executor*/, int work, const CommunicationTimes& times) {
  const auto flight = std::ranges::find(in_flight_, work, &Flight::work);
  record_communication(*flight, times);
  if (flight->last) remaining_ -= static_cast<int>(flight->response.gradients.size());
  in_flight_.erase(flight);
  synchronised_ = synchronised_.max(times.end);
}

std::optional<RankTimes> Horovod::synchronised() const {
  if (remaining_ > 0) return std::nullopt;
  return synchronised_;
}

/// One tick per rank, as in Horovod's own timeline; of very many ranks an even sample, to keep traces small.
void Horovod::record_announced(int gradient, const RankTimes& moments) const {
  constexpr int most_ticks = 64;
  if (timeline_ == nullptr) return;
  const int stride = (ranks_ + most_ticks - 1) / most_ticks;
  for (int rank = 0; rank < ranks_; rank += stride) {
    timeline_->instant(job_.gradients[static_cast<std::size_t>(gradient)].name, std::to_string(rank),
                       Seconds(moments[rank]));
  }
}

void Horovod::record_wait(const Response& response, double reached) const {
  if (timeline_ == nullptr) return;
  for (const int gradient : response.gradients) {
    const auto index = static_cast<std::size_t>(gradient);
    const std::string& name = job_.gradients[index].name;
    const double data = std::max(reached, ready_[index][0]);
    timeline_->span(name, "WAIT_FOR_DATA", Seconds(reached), Seconds(data));
    timeline_->span(name, "WAIT_FOR_OTHER_TENSOR_DATA", Seconds(data), Seconds(thread_moment_[0]));
  }
}

void Horovod::record_communication(const Flight& flight, const CommunicationTimes& times) const {
  if (timeline_ == nullptr) return;
  const Response& response = flight.response;
  const bool fused = response.gradients.size() > 1;
  for (const int gradient : response.gradients) {
    const std::string& name = job_.gradients[static_cast<std::size_t>(gradient)].name;
    timeline_->span(name, "QUEUE", response.enqueued, Seconds(times.begin[0]));
    if (fused) timeline_->span(name, "MEMCPY_IN_FUSION_BUFFER", Seconds(times.begin[0]), Seconds(times.reducing[0]));
    timeline_->span(name, activity(settings_.library, flight.operation), Seconds(times.reducing[0]),
                    Seconds(times.reduced[0]));
    if (fused) timeline_->span(name, "MEMCPY_OUT_FUSION_BUFFER", Seconds(times.reduced[0]), Seconds(times.end[0]));
  }
}

}  // namespace farandole
