// Flows on links that each share themselves alone: the closed approximation of `analytic`.
//
// Every link gives each of the flows on it the same share, and a flow is over when the slowest of its links would have
// carried it. So a link does not know that a flow is held up elsewhere and could leave its share to others: exact where
// all flows that meet are limited by the same kind of link (one hot server; workers that send to many), else too fast
// or too slow by less than the max-min fair `flow` would say. On one link this is processor sharing: in its own virtual
// time, which runs at capacity / load, a flow of b bytes is over b later, whoever comes and goes meanwhile. So a start
// or an end costs O(links of the route x log flows), not a new share for everyone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include <boost/heap/d_ary_heap.hpp>

#include "platform/congestion.hpp"
#include "simulate/shared_network.hpp"

namespace farandole { inline namespace simulate {

class SharedLinks final : public SharedNetwork {
 public:
  /// The index of a new link; its capacity is positive and finite.
  int add_link(BytesPerSecond capacity, Congestion congestion) override;
  /// From now on.
  void set_capacity(int link, BytesPerSecond capacity) override;

  int add_route(std::span<const int> links, int paths) override;
  void start_at(Seconds when, int route, Seconds latency, Bytes size, int tag) override;
  void call_at(Seconds when, int tag) override { events_.push({{std::max(when, now_), order_++}, -1, tag, 0}); }
  void run(const Done& done) override;
  void halt() override { is_halted_ = true; }
  [[nodiscard]] Seconds now() const override { return now_; }

 private:
  struct Crossing {
    int link;
    double weight;
  };
  struct OnLink {
    double end;  // in the link's virtual time: bytes that each flow on it has been given
    std::int64_t order;
    int flow;
    double weight;
    bool operator>(const OnLink& other) const { return end != other.end ? end > other.end : order > other.order; }
  };
  struct Moment {
    Seconds when;
    std::int64_t order;
    bool operator>(const Moment& other) const { return when != other.when ? when > other.when : order > other.order; }
  };
  /// That a link's first flow ends, once for every link that has flows.
  struct End : Moment {
    int link;
  };
  using Ends = boost::heap::d_ary_heap<End, boost::heap::arity<4>, boost::heap::mutable_<true>,
                                       boost::heap::compare<std::greater<>>>;
  struct SharedLink {
    double capacity;
    Congestion congestion{};
    double load = 0;
    double given = 0;  // virtual time
    Seconds updated{};
    std::optional<Ends::handle_type> first_end{};
    std::priority_queue<OnLink, std::vector<OnLink>, std::greater<>> flows{};
    /// Of every flow, in bytes per second.
    [[nodiscard]] double share() const { return capacity * congestion.left(load) / load; }
  };
  struct Flow {
    int tag;
    int links_left;
  };
  /// A call, or a flow's begin.
  struct Event : Moment {
    int route;  // negative: a call
    int tag;
    double size;
  };

  void catch_up(SharedLink& link) const;
  void expect_end(int link);
  void begin(int route, double size, int tag);
  void end_on(int link, const Done& done);

  std::vector<SharedLink> links_;
  std::vector<std::vector<Crossing>> routes_;
  Recycled<Flow> flows_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Ends ends_;
  std::int64_t order_ = 0;
  Seconds now_;
  bool is_halted_ = false;
};

}}  // namespace farandole::simulate
