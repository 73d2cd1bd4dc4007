#include "backend/memory_endpoint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <utility>

namespace farandole {
namespace {

/// A double in two floats' bits: `everyones` is exact.
std::vector<float> halves_of(double number) {
  const auto halves = std::bit_cast<std::array<float, 2>>(number);
  return {halves[0], halves[1]};
}

double whole_of(const std::vector<float>& halves) {
  return std::bit_cast<double>(std::array<float, 2>{halves[0], halves[1]});
}

}  // namespace

void Mailroom::put(int from, int to, std::vector<float> letter) {
  {
    const std::lock_guard lock(mutex_);
    boxes_[{from, to}].push_back(std::move(letter));
  }
  arrived_.notify_all();
}

std::vector<float> Mailroom::take(int from, int to) {
  std::unique_lock lock(mutex_);
  auto& box = boxes_[{from, to}];
  arrived_.wait(lock, [&] { return !box.empty(); });
  std::vector<float> letter = std::move(box.front());
  box.pop_front();
  return letter;
}

void MemoryEndpoint::send(std::span<const float> data, int to) {
  mailroom_.put(rank_, to, {data.begin(), data.end()});
}

void MemoryEndpoint::receive(std::span<float> data, int from) {
  expected_.push_back({data, from});
}

void MemoryEndpoint::wait() {
  for (const auto& [data, from] : std::exchange(expected_, {})) {
    const std::vector<float> letter = mailroom_.take(from, rank_);
    if (letter.size() != data.size()) throw std::logic_error("a message of another length than expected");
    std::ranges::copy(letter, data.begin());
  }
}

std::vector<double> MemoryEndpoint::everyones(double number) {
  std::vector<double> numbers;
  for (int to = 0; to < ranks(); ++to) mailroom_.put(rank_, to, halves_of(number));
  for (int from = 0; from < ranks(); ++from) numbers.push_back(whole_of(mailroom_.take(from, rank_)));
  return numbers;
}

}  // namespace farandole
