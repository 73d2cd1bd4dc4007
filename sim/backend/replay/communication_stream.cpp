#include "backend/replay/communication_stream.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "backend/bench.hpp"
#include "backend/data_place.hpp"

namespace farandole { inline namespace backend {
GroupEndpoint::GroupEndpoint(Endpoint& all, std::vector<int> members)
    : all_(all),
      members_(std::move(members)),
      rank_(static_cast<int>(std::ranges::find(members_, all.rank()) - members_.begin())) {}

CommunicationStream::CommunicationStream(std::unique_ptr<Endpoint> endpoint, GroupSchedules schedules,
                                         const WallClock& clock)
    : endpoint_(std::move(endpoint)), schedules_(std::move(schedules)), clock_(clock) {}

Endpoint& CommunicationStream::endpoint_of(Group group) {
  if (group == Group::all || !schedules_.members_of) return *endpoint_;
  const auto found = groups_.find(group);
  if (found != groups_.end()) return found->second;
  return groups_.try_emplace(group, *endpoint_, schedules_.members_of(group)).first->second;
}

void CommunicationStream::enqueue(int number, const Collective& work, Seconds earliest) {
  items_.push_back({number, work, earliest, {{}, work.operation}});
}

CommunicationStream::Carrier& CommunicationStream::carrier_of(const Collective& work) {
  const std::int64_t floats = floats_in(work.size);
  const std::tuple key(work.operation, work.group, floats);
  const auto found = carriers_.find(key);
  if (found != carriers_.end()) return found->second;
  Endpoint& endpoint = endpoint_of(work.group);
  Schedule layout = schedules_.schedule_of(work.operation, work.group);
  RankProgram program = program_of(layout, endpoint.rank(), floats);
  const std::int64_t room = program.elements;
  Carrier carrier{&endpoint, std::move(layout), floats, Interpreter(std::move(program), endpoint), room};
  return carriers_.emplace(key, std::move(carrier)).first->second;
}

void CommunicationStream::start_reducing(const Item& item) {
  Carrier& carrier = carrier_of(item.work);
  const auto room = static_cast<std::size_t>(carrier.room);
  DataPlace& place = endpoint_->place();
  if (buffer_.size < room) buffer_ = place.allocate(room);
  if (is_checked_) {
    place.upload(test_data(carrier.layout, carrier.endpoint->rank(), carrier.floats), buffer_.span().first(room));
  }
  carrier.interpreter.begin(buffer_.span().first(room));
}

void CommunicationStream::check(const Item& item) {
  if (!is_checked_) return;
  const Carrier& carrier = carrier_of(item.work);
  std::vector<float> data(static_cast<std::size_t>(carrier.room));
  endpoint_->place().download(buffer_.span().first(data.size()), data);
  wrong_ += count_wrong(carrier.layout, carrier.endpoint->rank(), carrier.floats, data);
}

std::optional<CommunicationStream::Finished> CommunicationStream::advance() {
  if (items_.empty()) return std::nullopt;
  Item& item = items_.front();
  LocalTimes& times = item.times;
  if (stage_ == Stage::waiting && clock_.now() >= item.earliest) {
    times.begin = clock_.now();
    stage_ = Stage::copying_in;
  }
  if (stage_ == Stage::copying_in && clock_.now() >= times.begin + item.work.copy_in) {
    times.reducing = clock_.now();
    start_reducing(item);
    stage_ = Stage::reducing;
  }
  if (stage_ == Stage::reducing && carrier_of(item.work).interpreter.advance()) {
    times.reduced = clock_.now();
    check(item);
    stage_ = Stage::copying_out;
  }
  if (stage_ != Stage::copying_out || clock_.now() < times.reduced + item.work.copy_out) return std::nullopt;
  times.end = clock_.now();
  stage_ = Stage::waiting;
  const Finished finished{item.number, times};
  items_.pop_front();
  return finished;
}

Seconds CommunicationStream::next_moment() const {
  if (items_.empty() || stage_ == Stage::reducing) return Seconds::infinity();
  const Item& item = items_.front();
  if (stage_ == Stage::waiting) return item.earliest;
  return stage_ == Stage::copying_in ? item.times.begin + item.work.copy_in : item.times.reduced + item.work.copy_out;
}

namespace {

constexpr std::int64_t last_message = -1;

}  // namespace

Agreement::Agreement(std::unique_ptr<Endpoint> to_leader, std::unique_ptr<Endpoint> from_leader)
    : to_leader_(std::move(to_leader)),
      from_leader_(std::move(from_leader)),
      heard_(static_cast<std::size_t>(to_leader_->ranks())) {
  expect();
}

void Agreement::expect() {
  if (!leads()) return from_leader_->receive(std::span(heard_).first(1), 0);
  for (int rank = 1; rank < to_leader_->ranks(); ++rank) {
    to_leader_->receive(std::span(heard_).subspan(static_cast<std::size_t>(rank), 1), rank);
  }
}

void Agreement::tell(Endpoint& endpoint, int to, std::int64_t number) {
  if (number >= most_exact_float) throw std::runtime_error("a replay with more announcements than can be counted");
  endpoint.send(std::span(&sent_.emplace_back(static_cast<float>(number)), 1), to);
}

void Agreement::announce() {
  ++own_;
  if (!leads()) tell(*to_leader_, 0, own_);
}

void Agreement::listen() {
  while (!is_over_ && incoming().is_done()) {
    const auto said = static_cast<std::int64_t>(heard_[leads() ? 1 : 0]);  // all others say as much
    is_over_ = said == last_message;
    if (is_over_) return;
    if (leads()) {
      ++others_;
    } else {
      timers_.push_back(said);
    }
    expect();
  }
  if (outgoing().is_done()) sent_.clear();
}

std::int64_t Agreement::announced() const {
  if (leads()) return std::min(own_, others_);
  return timers_.empty() ? settled_ : timers_.front();
}

void Agreement::ring(std::int64_t delivered) {
  for (int rank = 1; rank < from_leader_->ranks(); ++rank) tell(*from_leader_, rank, delivered);
}

void Agreement::take_timer() {
  settled_ = timers_.front();
  timers_.pop_front();
}

void Agreement::close() {
  if (leads()) {
    ring(last_message);
  } else {
    tell(*to_leader_, 0, last_message);
  }
  for (; !is_over_; listen()) incoming().idle(1_ms);
  outgoing().wait();
}

}}  // namespace farandole::backend
