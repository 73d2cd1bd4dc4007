#include "simulate/servers/shared_links.hpp"

#include <algorithm>

namespace farandole {

SharedLinks::SharedLinks(std::span<const BytesPerSecond> capacities, std::span<const Congestion> congestion) {
  for (const BytesPerSecond capacity : capacities) links_.push_back({capacity.si()});
  for (std::size_t link = 0; link < congestion.size(); ++link) links_[link].congestion = congestion[link];
}

int SharedLinks::add_route(std::span<const Crossing> crossings) {
  routes_.emplace_back(crossings.begin(), crossings.end());
  return static_cast<int>(routes_.size()) - 1;
}

void SharedLinks::catch_up(SharedLink& link) const {
  if (link.users > 0) link.given += (now_ - link.updated).si() * link.share();
  link.updated = now_;
}

void SharedLinks::expect_end(int index) {
  SharedLink& link = links_[static_cast<std::size_t>(index)];
  ++link.version;
  if (link.flows.empty()) {
    link.given = 0;
    return;
  }
  const double left = std::max(0.0, link.flows.top().end - link.given);
  events_.push({now_ + Seconds(left / link.share()), order_++, index, link.version});
}

void SharedLinks::start(int route, Bytes size, int tag) {
  const auto& crossings = routes_[static_cast<std::size_t>(route)];
  int flow = static_cast<int>(flows_.size());
  if (free_flows_.empty()) {
    flows_.emplace_back();
  } else {
    flow = free_flows_.back();
    free_flows_.pop_back();
  }
  flows_[static_cast<std::size_t>(flow)] = {tag, static_cast<int>(crossings.size())};
  for (const Crossing& crossing : crossings) {
    SharedLink& link = links_[static_cast<std::size_t>(crossing.link)];
    catch_up(link);
    link.users += crossing.times;
    link.flows.push({link.given + size.si(), order_++, flow, crossing.times});
    expect_end(crossing.link);
  }
}

void SharedLinks::call_at(Seconds when, int tag) {
  events_.push({std::max(when, now_), order_++, -1, tag});
}

void SharedLinks::end_on(int index, const Done& done) {
  SharedLink& link = links_[static_cast<std::size_t>(index)];
  catch_up(link);
  const OnLink first = link.flows.top();
  link.flows.pop();
  link.users -= first.times;
  link.given = first.end;
  expect_end(index);
  Flow& flow = flows_[static_cast<std::size_t>(first.flow)];
  if (--flow.links_left > 0) return;
  free_flows_.push_back(first.flow);
  done(flow.tag);
}

void SharedLinks::run(const Done& done) {
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    const bool is_call = event.link < 0;
    if (!is_call && links_[static_cast<std::size_t>(event.link)].version != event.value) continue;
    now_ = event.when;
    is_call ? done(event.value) : end_on(event.link, done);
  }
}

}  // namespace farandole
