// An independent answer to what a FluidNetwork must say: progressive filling, in long double, written for clarity.
//
// Used by tests alone. MaxMinNetwork has the interface of FluidNetwork, so that one function can play an instance on
// both. max_min_rates is the definition: raise the rates of all flows together; where a link is full its flows stop.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "simulate/fluid_network.hpp"

namespace farandole::support {

using Exact = long double;

struct Sender {
  std::vector<int> links;  // a link may be listed more than once
  int paths = 1;           // over which it is split
  Exact left = 0;          // bytes
  int tag = 0;
  Exact rate = 0;
  bool full = false;  // the rate is final
};

/// How much of a link a sender takes for each byte per second of its own.
inline Exact share_of(const Sender& sender, int link) {
  return static_cast<Exact>(std::count(sender.links.begin(), sender.links.end(), link)) / sender.paths;
}

/// The level at which the first link fills up: min over links of (capacity - carried by final flows) / count of others.
inline Exact next_level(const std::vector<Exact>& capacities, const std::vector<Sender>& senders) {
  Exact level = std::numeric_limits<Exact>::infinity();
  for (std::size_t link = 0; link < capacities.size(); ++link) {
    Exact room = capacities[link];
    Exact growing = 0;
    for (const Sender& sender : senders) {
      const Exact times = share_of(sender, static_cast<int>(link));
      if (sender.full) {
        room -= times * sender.rate;
      } else {
        growing += times;
      }
    }
    if (growing > 0) level = std::min(level, room / growing);
  }
  return level;
}

/// Whether some link of the sender is used up when all flows that are not final run at `level`.
inline bool is_full(const Sender& sender, Exact level, const std::vector<Exact>& capacities,
                    const std::vector<Sender>& senders) {
  return std::any_of(sender.links.begin(), sender.links.end(), [&](int link) {
    Exact carried = 0;
    for (const Sender& other : senders) {
      carried += share_of(other, link) * (other.full ? other.rate : level);
    }
    return carried >= capacities[static_cast<std::size_t>(link)] * (1 - Exact(1e-15));
  });
}

inline void max_min_rates(const std::vector<Exact>& capacities, std::vector<Sender>& senders) {
  for (Sender& sender : senders) sender.full = false;
  while (std::any_of(senders.begin(), senders.end(), [](const Sender& s) { return !s.full; })) {
    const Exact level = next_level(capacities, senders);
    std::vector<Sender*> filled;
    for (Sender& sender : senders) {
      if (!sender.full && is_full(sender, level, capacities, senders)) filled.push_back(&sender);
    }
    for (Sender* sender : filled) {
      sender->rate = level;
      sender->full = true;
    }
  }
}

class MaxMinNetwork {
 public:
  explicit MaxMinNetwork(std::span<const FluidLink> links, int /*parts*/ = 1) {
    for (const FluidLink& link : links) capacities_.push_back(link.capacity.si());
  }

  int add_route(std::span<const int> links, int paths = 1) {
    routes_.push_back({{links.begin(), links.end()}, paths});
    return static_cast<int>(routes_.size()) - 1;
  }

  void start(int route, Seconds latency, Bytes size, int tag) { start_at(now(), route, latency, size, tag); }

  void start_at(Seconds when, int route, Seconds latency, Bytes size, int tag) {
    const Exact date = std::max(Exact(when.si()), clock_) + Exact(latency.si());
    Sender sender = routes_[static_cast<std::size_t>(route)];
    sender.left = size.si();
    sender.tag = tag;
    pending_.emplace(date, std::move(sender));
  }

  void run(const std::function<void(int tag)>& done) {
    while (!pending_.empty() || !senders_.empty()) {
      max_min_rates(capacities_, senders_);
      const Exact until = next_event();
      for (Sender& sender : senders_) sender.left -= sender.rate * (until - clock_);
      clock_ = until;
      for (; !pending_.empty() && pending_.begin()->first <= clock_; pending_.erase(pending_.begin())) {
        senders_.push_back(pending_.begin()->second);
      }
      for (const int tag : remove_finished()) done(tag);
    }
  }

  [[nodiscard]] Seconds now() const { return Seconds(static_cast<double>(clock_)); }

 private:
  // Bytes that rounding leaves; they would take 1e-16 of the time that has passed or was needed.
  [[nodiscard]] bool is_finished(const Sender& sender) const {
    return sender.left <= sender.rate * clock_ * Exact(1e-16);
  }

  [[nodiscard]] Exact next_event() const {
    Exact until = pending_.empty() ? std::numeric_limits<Exact>::infinity() : pending_.begin()->first;
    for (const Sender& sender : senders_) until = std::min(until, clock_ + sender.left / sender.rate);
    return until;
  }

  std::vector<int> remove_finished() {
    std::vector<int> tags;
    for (const Sender& sender : senders_) {
      if (is_finished(sender)) tags.push_back(sender.tag);
    }
    std::erase_if(senders_, [this](const Sender& sender) { return is_finished(sender); });
    return tags;
  }

  std::vector<Exact> capacities_;
  std::vector<Sender> routes_;  // senders to be
  std::multimap<Exact, Sender> pending_;
  std::vector<Sender> senders_;
  Exact clock_ = 0;
};

}  // namespace farandole::support
