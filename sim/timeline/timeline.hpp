// What happened when: spans and instants on lanes, the same type for simulated and real runs.
//
// A strategy fills it while it runs; report/pages.hpp writes it. Recording is capped: once `capacity` events are
// in, further ones are counted and dropped, so that no trace outgrows a browser. Times are finite, from 0 on, and no
// span ends before it starts; anything else is a broken contract (std::logic_error).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "units/quantity.hpp"

namespace farandole { inline namespace timeline {

struct Span {
  std::string lane;      // a tensor's name, a stream ("compute", "communication"), or "" for the whole process
  std::string activity;  // Horovod's names: NEGOTIATE_ALLREDUCE, QUEUE, NCCL_ALLREDUCE, ...
  Seconds start;
  Seconds duration;
};

/// A mark without length: CYCLE_START, or rank r reporting a tensor ready.
struct Instant {
  std::string lane;
  std::string activity;
  Seconds at;
};

class Timeline {
 public:
  enum class Keep : char { everything, spans };  // instants of many ranks leave little room for spans

  explicit Timeline(std::size_t capacity, Keep keep = Keep::everything) : capacity_(capacity), keep_(keep) {}

  void span(std::string lane, std::string activity, Seconds start, Seconds end);
  void instant(std::string lane, std::string activity, Seconds at);

  [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }
  [[nodiscard]] const std::vector<Instant>& instants() const { return instants_; }
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

 private:
  [[nodiscard]] bool full();

  std::size_t capacity_;
  Keep keep_;
  std::size_t dropped_ = 0;
  std::vector<Span> spans_;
  std::vector<Instant> instants_;
};

}}  // namespace farandole::timeline
