#include "simulate/shared_links.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace farandole { inline namespace simulate {

int SharedLinks::add_link(BytesPerSecond capacity, Congestion congestion) {
  links_.push_back({capacity.si(), std::move(congestion)});
  return static_cast<int>(links_.size()) - 1;
}

void SharedLinks::set_capacity(int index, BytesPerSecond capacity) {
  SharedLink& link = links_[static_cast<std::size_t>(index)];
  catch_up(link);
  link.capacity = capacity.si();
  expect_end(index);
}

int SharedLinks::add_route(std::span<const int> links, int paths) {
  std::map<int, double> weights;
  for (const int link : links) weights[link] += 1.0 / paths;
  auto& route = routes_.emplace_back();
  for (const auto& [link, weight] : weights) route.push_back({link, weight});
  return static_cast<int>(routes_.size()) - 1;
}

void SharedLinks::catch_up(SharedLink& link) const {
  if (link.load > 0) link.given += (now_ - link.updated).si() * link.share();
  link.updated = now_;
}

void SharedLinks::expect_end(int index) {
  SharedLink& link = links_[static_cast<std::size_t>(index)];
  if (link.flows.empty()) {
    link.given = 0;
    link.load = 0;
    if (link.first_end) ends_.erase(*link.first_end);
    link.first_end.reset();
    return;
  }
  const double left = std::max(0.0, link.flows.top().end - link.given);
  const End end{{now_ + Seconds(left / link.share()), order_++}, index};
  link.first_end ? ends_.update(*link.first_end, end) : static_cast<void>(link.first_end = ends_.push(end));
}

void SharedLinks::start_at(Seconds when, int route, Seconds latency, Bytes size, int tag) {
  const Seconds begins = when + latency;
  if (begins <= now_) return begin(route, size.si(), tag);
  events_.push({{begins, order_++}, route, tag, size.si()});
}

void SharedLinks::begin(int route, double size, int tag) {
  const auto& crossings = routes_[static_cast<std::size_t>(route)];
  const int flow = flows_.keep({tag, static_cast<int>(crossings.size())});
  for (const Crossing& crossing : crossings) {
    SharedLink& link = links_[static_cast<std::size_t>(crossing.link)];
    catch_up(link);
    link.load += crossing.weight;
    link.flows.push({link.given + size, order_++, flow, crossing.weight});
    expect_end(crossing.link);
  }
}

void SharedLinks::end_on(int index, const Done& done) {
  SharedLink& link = links_[static_cast<std::size_t>(index)];
  catch_up(link);
  const OnLink first = link.flows.top();
  link.flows.pop();
  link.load -= first.weight;
  link.given = first.end;
  expect_end(index);
  if (--flows_[first.flow].links_left > 0) return;
  done(flows_.take(first.flow).tag);
}

void SharedLinks::run(const Done& done) {
  is_halted_ = false;
  while (!(events_.empty() && ends_.empty()) && !is_halted_) {
    if (!ends_.empty() && (events_.empty() || events_.top() > ends_.top())) {
      now_ = ends_.top().when;
      end_on(ends_.top().link, done);
      continue;
    }
    const Event event = events_.top();
    events_.pop();
    now_ = event.when;
    event.route < 0 ? done(event.tag) : begin(event.route, event.size, event.tag);
  }
}

}}  // namespace farandole::simulate
