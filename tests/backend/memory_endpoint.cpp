#include "backend/memory_endpoint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace farandole { inline namespace backend {
namespace {

/// A double in two floats' bits: `allgather_scalar` is exact.
std::vector<float> halves_of(double number) {
  const auto halves = std::bit_cast<std::array<float, 2>>(number);
  return {halves[0], halves[1]};
}

double whole_of(const std::vector<float>& halves) {
  return std::bit_cast<double>(std::array<float, 2>{halves[0], halves[1]});
}

void deliver(const std::vector<float>& letter, std::span<float> data) {
  if (letter.size() != data.size()) throw std::logic_error("a message of another length than expected");
  std::ranges::copy(letter, data.begin());
}

}  // namespace

void InProcessMailbox::put(const Way& way, std::vector<float> letter) {
  {
    const std::lock_guard lock(mutex_);
    boxes_[way].push_back(std::move(letter));
  }
  arrived_.notify_all();
}

std::vector<float> InProcessMailbox::take(const Way& way) {
  std::unique_lock lock(mutex_);
  auto& box = boxes_[way];
  arrived_.wait(lock, [&] { return !box.empty(); });
  std::vector<float> letter = std::move(box.front());
  box.pop_front();
  return letter;
}

std::optional<std::vector<float>> InProcessMailbox::look(const Way& way) {
  const std::lock_guard lock(mutex_);
  auto& box = boxes_[way];
  if (box.empty()) return std::nullopt;
  std::vector<float> letter = std::move(box.front());
  box.pop_front();
  return letter;
}

void InProcessMailbox::wait_for(Seconds at_most) {
  constexpr Seconds longest = 1_ms;  // a letter that came before the wait began wakes nobody
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, std::chrono::duration<double>(std::min(at_most, longest).si()));
}

void MemoryEndpoint::send(std::span<const float> data, int peer) {
  mailbox_.put(to(peer), {data.begin(), data.end()});
}

void MemoryEndpoint::receive(std::span<float> data, int peer) {
  expected_.push_back({data, peer});
}

void MemoryEndpoint::wait() {
  for (; !expected_.empty(); expected_.pop_front()) {
    deliver(mailbox_.take(from(expected_.front().from)), expected_.front().data);
  }
}

bool MemoryEndpoint::is_done() {
  for (; !expected_.empty(); expected_.pop_front()) {  // in order: a later one may be from the same rank
    const auto letter = mailbox_.look(from(expected_.front().from));
    if (!letter) return false;
    deliver(*letter, expected_.front().data);
  }
  return true;
}

std::vector<double> MemoryEndpoint::allgather_scalar(double number) {
  std::vector<double> numbers;
  for (int peer = 0; peer < ranks(); ++peer) mailbox_.put(to(peer), halves_of(number));
  for (int peer = 0; peer < ranks(); ++peer) numbers.push_back(whole_of(mailbox_.take(from(peer))));
  return numbers;
}

}}  // namespace farandole::backend
