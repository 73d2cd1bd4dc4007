#include "training/strategies/bucketed.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace farandole {
Bucket make_bucket(const StrategySite& site, const CompressionSettings& compression, std::vector<int> gradients,
                   double copy) {
  auto pieces = on_the_wire(compression, site.job, gradients, site.ranks, site.memory_bandwidth);
  Bytes size;
  for (const int gradient : gradients) size += site.job.gradients[static_cast<std::size_t>(gradient)].size;
  pieces.front().before += copy * size / site.memory_bandwidth;
  pieces.back().after += copy * size / site.memory_bandwidth;
  return {std::move(gradients), std::move(pieces)};
}

Bucketed::Bucketed(const StrategySite& site, BucketPlan plan)
    : site_(site), plan_(std::move(plan)), synchronised_(all_at(site.ranks, Seconds(0))) {}

void Bucketed::begin(Executor& executor, const RankTimes& moments) {
  ++iteration_;
  ready_.assign(site_.job.gradients.size(), {});
  next_bucket_ = travels() ? 0 : plan_.buckets.size();
  if (site_.ranks == 1 || plan_.broadcast == Bytes(0)) return executor.compute_from(moments);
  broadcast_ = executor.enqueue({plan_.broadcast, Seconds(0), Seconds(0), moments, Operation::broadcast});
  flights_.push_back({*broadcast_, plan_.buckets.size(), Operation::broadcast, Seconds(moments[0])});
}

void Bucketed::on_announced(Executor& /*executor*/, int /*gradient*/, const RankTimes& /*moments*/) {}

void Bucketed::on_timer(Executor& /*executor*/) {}

void Bucketed::on_ready(Executor& executor, int gradient, const RankTimes& moments) {
  ready_[static_cast<std::size_t>(gradient)] = moments;
  send_ready_buckets(executor);
}

bool Bucketed::is_ready(const Bucket& bucket) const {
  if (plan_.first_at_the_end && iteration_ == 1) {
    return std::ranges::all_of(ready_, [](const RankTimes& moments) { return moments.size() > 0; });
  }
  return std::ranges::all_of(bucket.gradients,
                             [&](int gradient) { return ready_[static_cast<std::size_t>(gradient)].size() > 0; });
}

void Bucketed::send_ready_buckets(Executor& executor) {
  while (next_bucket_ < plan_.buckets.size() && is_ready(plan_.buckets[next_bucket_])) {
    const Bucket& bucket = plan_.buckets[next_bucket_];
    RankTimes earliest = ready_[static_cast<std::size_t>(bucket.gradients.front())];
    for (const int gradient : bucket.gradients) earliest = earliest.max(ready_[static_cast<std::size_t>(gradient)]);
    if (plan_.first_at_the_end && iteration_ == 1) earliest = earliest.max(ready_.back());
    for (const WirePiece& piece : bucket.pieces) send(executor, piece, earliest);
    const bool last = ++next_bucket_ == plan_.buckets.size();
    if (last && plan_.used_map > Bytes(0)) {
      send(executor, {Operation::allreduce, plan_.used_map, Seconds(0), Seconds(0)}, earliest);
    }
  }
}

void Bucketed::send(Executor& executor, const WirePiece& piece, const RankTimes& earliest) {
  const int work = executor.enqueue({piece.size, piece.before, piece.after, earliest, piece.operation});
  flights_.push_back({work, next_bucket_, piece.operation, Seconds(earliest[0])});
}

void Bucketed::on_communicated(Executor& executor, int work, const CommunicationTimes& times) {
  const auto flight = std::ranges::find(flights_, work, &Flight::work);
  record(*flight, times);
  flights_.erase(flight);
  synchronised_ = synchronised_.max(times.end);
  if (broadcast_ == work) {
    broadcast_.reset();
    executor.compute_from(times.end);
  }
}

std::optional<RankTimes> Bucketed::synchronised() const {
  if (next_bucket_ < plan_.buckets.size() || !flights_.empty()) return std::nullopt;
  return synchronised_;
}

void Bucketed::record(const Flight& flight, const CommunicationTimes& times) const {
  if (site_.timeline == nullptr) return;
  const bool is_bucket = flight.bucket < plan_.buckets.size();
  const std::string other = flight.operation == Operation::broadcast ? "buffers" : "used parameters";
  const std::string lane = is_bucket ? fmt::format("bucket {}", flight.bucket) : other;
  const auto span = [&](const std::string& what, Seconds from, Seconds to) {
    if (to > from) site_.timeline->span(lane, what, from, to);
  };
  span("QUEUE", flight.enqueued, Seconds(times.begin[0]));
  span("COPY_IN", Seconds(times.begin[0]), Seconds(times.reducing[0]));
  span(activity(site_.library, flight.operation), Seconds(times.reducing[0]), Seconds(times.reduced[0]));
  span("COPY_OUT", Seconds(times.reduced[0]), Seconds(times.end[0]));
}

}  // namespace farandole
