#include "backend/interpreter.hpp"

#include <algorithm>
#include <stdexcept>

namespace farandole { inline namespace backend {
namespace {

std::size_t length_of(const PeerMessage& message) {
  return static_cast<std::size_t>(message.elements());
}

std::span<float> piece(std::span<float> data, const ElementRange& range) {
  return data.subspan(static_cast<std::size_t>(range.begin), static_cast<std::size_t>(range.count));
}

bool touches(const PeerMessage& message, const ElementRange& range) {
  return std::ranges::any_of(message.ranges, [&](const ElementRange& other) {
    return other.begin < range.begin + range.count && range.begin < other.begin + other.count;
  });
}

/// Whether it may land where it belongs while the round goes on: nobody else reads or writes there.
bool lands_in_place(const RankRound& round, const PeerMessage& received) {
  if (received.action != Action::copy || received.ranges.size() > 1) return false;
  const ElementRange& range = received.ranges.front();
  const auto is_elsewhere = [&](const PeerMessage& other) { return &other == &received || !touches(other, range); };
  return std::ranges::all_of(round.sends, is_elsewhere) && std::ranges::all_of(round.receives, is_elsewhere);
}

std::size_t room_aside(const RankRound& round) {
  std::size_t room = 0;
  for (const PeerMessage& message : round.sends) room += message.ranges.size() > 1 ? length_of(message) : 0;
  for (const PeerMessage& message : round.receives) room += lands_in_place(round, message) ? 0 : length_of(message);
  return room;
}

void pack(DataPlace& place, const PeerMessage& message, std::span<float> data, std::span<float> packed) {
  for (const ElementRange& range : message.ranges) {
    place.copy(piece(data, range), packed.first(static_cast<std::size_t>(range.count)));
    packed = packed.subspan(static_cast<std::size_t>(range.count));
  }
}

/// What is relayed is kept to be passed on, and added to the first copy of the array.
void unpack(DataPlace& place, const PeerMessage& message, std::span<const float> packed, std::span<float> data,
            std::int64_t array) {
  for (const ElementRange& range : message.ranges) {
    const auto came = packed.first(static_cast<std::size_t>(range.count));
    packed = packed.subspan(came.size());
    if (message.action != Action::reduce) place.copy(came, piece(data, range));
    if (message.action == Action::reduce) place.add(came, piece(data, range));
    if (message.action == Action::relay) place.add(came, piece(data, {range.begin % array, range.count}));
  }
}

std::span<float> take(std::span<float>& free, std::size_t elements) {
  const std::span<float> taken = free.first(elements);
  free = free.subspan(elements);
  return taken;
}

}  // namespace

Interpreter::Interpreter(RankProgram program, Endpoint& endpoint) : program_(std::move(program)), endpoint_(endpoint) {
  std::size_t room = 0;
  for (const RankRound& round : program_.rounds) room = std::max(room, room_aside(round));
  aside_ = endpoint_.place().allocate(room);
}

void Interpreter::run(std::span<float> data) {
  begin(data);
  while (is_running()) {
    endpoint_.wait();
    end_round();
  }
}

void Interpreter::begin(std::span<float> data) {
  if (static_cast<std::int64_t>(data.size()) != program_.elements) {
    throw std::logic_error("a buffer of another size than the schedule was laid out for");
  }
  data_ = data;
  round_ = 0;
  if (is_running()) start_round();
}

bool Interpreter::advance() {
  while (is_running() && endpoint_.is_done()) end_round();
  return !is_running();
}

void Interpreter::start_round() {
  const RankRound& round = program_.rounds[round_];
  std::span<float> free = aside_.span();
  receive(round, free);
  send(round, free);
}

void Interpreter::receive(const RankRound& round, std::span<float>& free) {
  kept_.clear();
  for (const PeerMessage& message : round.receives) {
    const bool in_place = lands_in_place(round, message);
    const std::span<float> into = in_place ? piece(data_, message.ranges.front()) : take(free, length_of(message));
    if (!in_place) kept_.push_back({&message, into});
    endpoint_.receive(into, message.peer);
  }
}

void Interpreter::send(const RankRound& round, std::span<float>& free) {
  for (const PeerMessage& message : round.sends) {
    const bool is_one = message.ranges.size() == 1;
    const std::span<float> from = is_one ? piece(data_, message.ranges.front()) : take(free, length_of(message));
    if (!is_one) pack(endpoint_.place(), message, data_, from);
    endpoint_.send(from, message.peer);
  }
}

void Interpreter::end_round() {
  for (const auto& [message, packed] : kept_) unpack(endpoint_.place(), *message, packed, data_, program_.array);
  if (++round_; is_running()) start_round();
}

}}  // namespace farandole::backend
