#include "simulate/max_min_network.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

namespace farandole::inline simulate {
namespace {

/// Ends that are no further apart than rounding are one moment.
constexpr double kPrecision = 0x1p-50;

void check_capacity(BytesPerSecond capacity) {
  if (!(capacity.si() > 0) || !std::isfinite(capacity.si())) {
    throw std::invalid_argument("a link has a capacity above zero");
  }
}

}  // namespace

int MaxMinNetwork::add_link(BytesPerSecond capacity, Congestion congestion) {
  check_capacity(capacity);
  links_.push_back({capacity.si(), std::move(congestion)});
  return static_cast<int>(links_.size()) - 1;
}

void MaxMinNetwork::set_capacity(int link, BytesPerSecond capacity) {
  check_capacity(capacity);
  links_.at(static_cast<std::size_t>(link)).capacity = capacity.si();
  mark(link);
}

int MaxMinNetwork::add_route(std::span<const int> links, int paths) {
  if (links.empty() || paths < 1) throw std::invalid_argument("a route has at least one link and one path");
  std::map<int, double> weights;
  for (const int link : links) {
    if (link < 0 || static_cast<std::size_t>(link) >= links_.size()) {
      throw std::invalid_argument("a route over no such link");
    }
    weights[link] += 1.0 / paths;
  }
  auto& route = routes_.emplace_back();
  for (const auto& [link, weight] : weights) route.push_back({link, weight});
  return static_cast<int>(routes_.size()) - 1;
}

void MaxMinNetwork::start_at(Seconds when, int route, Seconds latency, Bytes size, int tag) {
  const double bytes = size.si();
  if (!(bytes >= 1) || bytes >= 0x1p63 || bytes != std::floor(bytes)) {
    throw std::invalid_argument("a flow has a whole number of bytes, at least one");
  }
  if (!(when.si() >= now_)) throw std::logic_error("a flow or call is never in the past");
  events_.push({(when + latency).si(), order_++, tag, route, -1, bytes});
}

void MaxMinNetwork::call_at(Seconds when, int tag) {
  if (!(when.si() >= now_) || !std::isfinite(when.si())) throw std::logic_error("a flow or call is never in the past");
  events_.push({when.si(), order_++, tag, -1, -1, 0});
}

void MaxMinNetwork::mark(int link) {
  Link& marked = links_[static_cast<std::size_t>(link)];
  if (marked.is_marked) return;
  marked.is_marked = true;
  marked_.push_back(link);
}

void MaxMinNetwork::enter(const Event& event) {
  int index = static_cast<int>(flows_.size());
  if (free_.empty()) {
    flows_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[static_cast<std::size_t>(index)];
  const auto& route = routes_[static_cast<std::size_t>(event.route)];
  flow.route = event.route;
  flow.tag = event.tag;
  flow.order = event.order;
  flow.left = event.size;
  flow.rate = 0;
  flow.since = now_;
  flow.end = -1;
  flow.places.clear();
  for (std::size_t i = 0; i < route.size(); ++i) {
    Link& link = links_[static_cast<std::size_t>(route[i].link)];
    flow.places.push_back(static_cast<int>(link.uses.size()));
    link.uses.push_back({index, static_cast<int>(i)});
    link.load += route[i].weight;
    mark(route[i].link);
  }
}

int MaxMinNetwork::leave(int index) {
  Flow& flow = flows_[static_cast<std::size_t>(index)];
  const auto& route = routes_[static_cast<std::size_t>(flow.route)];
  for (std::size_t i = 0; i < route.size(); ++i) {
    Link& link = links_[static_cast<std::size_t>(route[i].link)];
    const auto place = static_cast<std::size_t>(flow.places[i]);
    link.uses[place] = link.uses.back();
    link.uses.pop_back();
    if (place < link.uses.size()) {
      const Use& moved = link.uses[place];
      flows_[static_cast<std::size_t>(moved.flow)].places[static_cast<std::size_t>(moved.crossing)] =
          static_cast<int>(place);
    }
    link.load = link.uses.empty() ? 0 : link.load - route[i].weight;
    mark(route[i].link);
  }
  flow.end = -1;
  free_.push_back(index);
  return flow.tag;
}

/// All links and flows that are connected with those marked.
void MaxMinNetwork::connect(std::vector<int>& links, std::vector<int>& flows) {
  ++solution_;
  const auto meet = [&](int index) {
    Link& link = links_[static_cast<std::size_t>(index)];
    if (link.solved == solution_ || link.uses.empty()) return;
    link.solved = solution_;
    link.left = link.capacity * link.congestion.left(link.load);
    link.unfixed = link.load;
    links.push_back(index);
  };
  for (const int link : marked_) {
    links_[static_cast<std::size_t>(link)].is_marked = false;
    meet(link);
  }
  marked_.clear();
  for (std::size_t i = 0; i < links.size(); ++i) {
    for (const Use& use : links_[static_cast<std::size_t>(links[i])].uses) {
      Flow& flow = flows_[static_cast<std::size_t>(use.flow)];
      if (flow.solved == solution_) continue;
      flow.solved = solution_;
      flow.next_rate = -1;
      flows.push_back(use.flow);
      for (const Crossing& crossing : routes_[static_cast<std::size_t>(flow.route)]) meet(crossing.link);
    }
  }
}

void MaxMinNetwork::solve() {
  std::vector<int> links;
  std::vector<int> flows;
  connect(links, flows);
  std::vector<Candidate> heap;
  heap.reserve(links.size());
  for (const int link : links) {
    const Link& own = links_[static_cast<std::size_t>(link)];
    heap.push_back({own.left / own.unfixed, link});
  }
  std::ranges::make_heap(heap, std::greater<>());
  std::size_t fixed = 0;
  while (!heap.empty() && fixed < flows.size()) {
    std::ranges::pop_heap(heap, std::greater<>());
    const Candidate least = heap.back();
    heap.pop_back();
    Link& link = links_[static_cast<std::size_t>(least.link)];
    const auto open = std::ranges::count_if(
        link.uses, [&](const Use& use) { return flows_[static_cast<std::size_t>(use.flow)].next_rate < 0; });
    if (open == 0) continue;
    const double level = std::max(link.left, 0.0) / link.unfixed;
    if (level > least.level * (1 + 0x1p-48)) {
      heap.push_back({level, least.link});
      std::ranges::push_heap(heap, std::greater<>());
      continue;
    }
    for (const Use& use : link.uses) {
      Flow& flow = flows_[static_cast<std::size_t>(use.flow)];
      if (flow.next_rate >= 0) continue;
      flow.next_rate = level;
      ++fixed;
      for (const Crossing& crossing : routes_[static_cast<std::size_t>(flow.route)]) {
        Link& other = links_[static_cast<std::size_t>(crossing.link)];
        other.left -= crossing.weight * level;
        other.unfixed -= crossing.weight;
      }
    }
  }
  for (const int flow : flows) take_rate(flow);
}

void MaxMinNetwork::take_rate(int index) {
  Flow& flow = flows_[static_cast<std::size_t>(index)];
  if (flow.next_rate == flow.rate) return;
  flow.left = std::max(0.0, flow.left - flow.rate * (now_ - flow.since));
  flow.since = now_;
  flow.rate = flow.next_rate;
  flow.end = now_ + flow.left / flow.rate;
  events_.push({flow.end, flow.order, flow.tag, -1, index, 0});
}

bool MaxMinNetwork::is_stale(const Event& event) const {
  if (event.flow < 0) return false;
  const Flow& flow = flows_[static_cast<std::size_t>(event.flow)];
  return flow.end != event.date || flow.order != event.order;
}

void MaxMinNetwork::run(const Done& done) {
  is_halted_ = false;
  while (!is_halted_) {
    if (!marked_.empty() && (events_.empty() || events_.top().date > now_ * (1 + kPrecision))) solve();
    if (events_.empty()) return;
    const Event event = events_.top();
    events_.pop();
    if (is_stale(event)) continue;
    now_ = std::max(now_, event.date);
    if (event.route >= 0) {
      enter(event);
    } else {
      done(event.flow >= 0 ? leave(event.flow) : event.tag);
    }
  }
}

}  // namespace farandole::inline simulate
