#include "timeline/timeline.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

namespace farandole { inline namespace timeline {
namespace {

void expect_time(Seconds at) {
  if (!std::isfinite(at.si()) || at < Seconds(0)) {
    throw std::logic_error("a timeline event must lie at a finite time from 0 on");
  }
}

}  // namespace

void Timeline::span(std::string lane, std::string activity, Seconds start, Seconds end) {
  expect_time(start);
  expect_time(end);
  if (end < start) throw std::logic_error("a timeline span must not end before it starts");
  if (full()) return;
  spans_.push_back({std::move(lane), std::move(activity), start, end - start});
}

void Timeline::instant(std::string lane, std::string activity, Seconds at) {
  expect_time(at);
  if (keep_ == Keep::spans || full()) return;
  instants_.push_back({std::move(lane), std::move(activity), at});
}

bool Timeline::full() {
  if (spans_.size() + instants_.size() < capacity_) return false;
  ++dropped_;
  return true;
}

}}  // namespace farandole::timeline
