#include "training/strategies/bucketed.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "simulate/routed_schedule.hpp"
#include "training/passes.hpp"

namespace farandole { inline namespace training {
Bucket make_bucket(const StrategySite& site, const CompressionSettings& compression, std::vector<int> gradients,
                   double copy) {
  auto pieces = on_the_wire(compression, site.job, gradients, site.data_parallel(), site.coder);
  Bytes size;
  for (const int gradient : gradients) size += site.job.gradients[as_index(gradient)].size;
  pieces.front().before += copy * size / site.memory_bandwidth;
  pieces.back().after += copy * size / site.memory_bandwidth;
  return {std::move(gradients), std::move(pieces), Seconds(0)};
}

Bytes parameter_bytes(const Job& job) {
  Bytes sum;
  for (const Variable& variable : job.variables) {
    if (variable.gradient >= 0) sum += variable.size;
  }
  return sum;
}

Bucketed::Bucketed(const StrategySite& site, BucketPlan plan)
    : site_(site), plan_(std::move(plan)), synchronised_(all_at(site.ranks, Seconds(0))) {}

void Bucketed::begin(Engine& engine, const RankTimes& moments) {
  ++iteration_;
  ready_.assign(site_.job.gradients.size(), {});
  next_bucket_ = 0;
  skip_what_stays();
  arrived_.assign(next_bucket_ < buckets().size() ? buckets().size() : 0, all_at(site_.ranks, Seconds(0)));
  for (const Bucket& bucket : plan_.alongside) {
    if (travels(bucket)) send(engine, bucket, moments, communicating_among_replicas);
  }
  if (site_.data_parallel() == 1 || plan_.broadcast == Bytes(0)) {
    return pass(engine, moments);
  }
  broadcast_ =
      engine.add({Collective{Operation::broadcast, plan_.broadcast}, moments, {}, communicating, {communicated}});
  flights_.push_back({*broadcast_, buckets().size(), Operation::broadcast, Seconds(moments[0])});
}

void Bucketed::on(Engine& engine, const Happening& happening) {
  if (happening.note.what == communicated) return communicated_by(engine, happening.task, *happening.times);
  if (happening.note.what != ready) return;
  ready_[as_index(happening.note.index)] = happening.moments;
  send_ready_buckets(engine);
}

void Bucketed::skip_what_stays() {
  while (next_bucket_ < buckets().size() && !travels(buckets()[next_bucket_])) ++next_bucket_;
}

int Bucketed::last_of(const Bucket& bucket) const {
  const auto moment = [&](int gradient) { return std::pair(site_.job.gradients[as_index(gradient)].ready, gradient); };
  return std::ranges::max(bucket.gradients, {}, moment);
}

void Bucketed::pass(Engine& engine, RankTimes moments) const {
  std::vector<int> awaited;
  for (const Bucket& bucket : buckets()) {
    if (travels(bucket)) awaited.push_back(last_of(bucket));
  }
  const int last = static_cast<int>(ready_.size()) - 1;
  if (last >= 0 && std::ranges::find(awaited, last) == awaited.end()) awaited.push_back(last);
  std::ranges::sort(awaited);
  add_passes(engine, site_.job, std::move(moments), awaited);
}

void Bucketed::send_ready_buckets(Engine& engine) {
  while (next_bucket_ < buckets().size()) {
    const Bucket& bucket = buckets()[next_bucket_];
    const RankTimes& earliest = ready_[as_index(last_of(bucket))];
    if (earliest.size() == 0) return;
    send(engine, bucket, earliest);
    ++next_bucket_;
    skip_what_stays();
    if (next_bucket_ == buckets().size() && plan_.used_map > Bytes(0)) {
      send(engine, {{}, {{Operation::allreduce, plan_.used_map, Seconds(0), Seconds(0)}}}, earliest);
    }
  }
}

void Bucketed::send(Engine& engine, const Bucket& bucket, const RankTimes& earliest, Stream stream) {
  // What is none of the iteration's buckets, and has the number behind theirs.
  const bool is_other = stream != communicating || bucket.gradients.empty();
  for (const WirePiece& piece : bucket.pieces) {
    const Collective collective{piece.operation, piece.size, piece.before, piece.after, false, bucket.group};
    const TaskId task = engine.add({collective, earliest, {}, stream, {communicated}});
    flights_.push_back({task, is_other ? buckets().size() : next_bucket_, piece.operation, Seconds(earliest[0])});
  }
}

void Bucketed::communicated_by(Engine& engine, TaskId task, const TaskTimes& times) {
  const auto flight = std::ranges::find(flights_, task, &Flight::task);
  record(*flight, times.first_rank);
  if (flight->bucket < arrived_.size()) {
    RankTimes& arrived = arrived_[flight->bucket];
    arrived = arrived.max(times.end);
  }
  flights_.erase(flight);
  synchronised_ = synchronised_.max(times.end);
  if (broadcast_ == task) {
    broadcast_.reset();
    pass(engine, times.end);
  }
}

std::optional<RankTimes> Bucketed::synchronised() const {
  if (next_bucket_ < buckets().size() || !flights_.empty()) return std::nullopt;
  if (arrived_.empty()) return synchronised_;
  RankTimes end = ready_.back().size() > 0 ? ready_.back() : all_at(site_.ranks, Seconds(0));
  for (std::size_t bucket = 0; bucket < arrived_.size(); ++bucket) {
    if (travels(buckets()[bucket])) end = end.max(arrived_[bucket]) + buckets()[bucket].taken_out.si();
  }
  return end.max(synchronised_);
}

void Bucketed::record(const Flight& flight, const Stages& times) const {
  if (site_.timeline == nullptr) return;
  const bool is_bucket = flight.bucket < buckets().size();
  const std::string other = flight.operation == Operation::broadcast ? "buffers" : "used parameters";
  const std::string lane = is_bucket ? fmt::format("bucket {}", flight.bucket) : other;
  const auto span = [&](const std::string& what, Seconds from, Seconds to) {
    if (to > from) site_.timeline->span(lane, what, from, to);
  };
  span("QUEUE", flight.enqueued, times.begin);
  span("COPY_IN", times.begin, times.reducing);
  span(activity(site_.library, flight.operation), times.reducing, times.reduced);
  span("COPY_OUT", times.reduced, times.end);
}

}}  // namespace farandole::training
