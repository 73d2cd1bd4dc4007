#include "backend/replay/communication_stream.hpp"

#include <algorithm>
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
  items_.push_back({number, work, earliest, {{}, {}, {}, {}, work.operation}});
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

}}  // namespace farandole::backend
