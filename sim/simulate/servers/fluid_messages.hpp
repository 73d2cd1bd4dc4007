// Messages as flows that SimGrid simulates: the network of `flow` and `message`.
#pragma once

#include "simulate/fluid_network.hpp"
#include "simulate/servers/message_network.hpp"

namespace farandole {

class FluidMessages final : public MessageNetwork {
 public:
  /// `congestion`: of every link, or of none.
  explicit FluidMessages(std::span<const BytesPerSecond> capacities, std::span<const Congestion> congestion = {})
      : network_(links_of(capacities, congestion)) {}

  int add_route(std::span<const Crossing> crossings) override {
    std::vector<int> links;
    for (const Crossing& crossing : crossings) {
      links.insert(links.end(), static_cast<std::size_t>(crossing.times), crossing.link);
    }
    return network_.add_route(links);
  }
  void start(int route, Bytes size, int tag) override { network_.start(route, Seconds(0), size, tag); }
  void call_at(Seconds when, int tag) override { network_.call_at(when, tag); }
  void run(const Done& done) override { network_.run(done); }
  [[nodiscard]] Seconds now() const override { return network_.now(); }

 private:
  static std::vector<FluidLink> links_of(std::span<const BytesPerSecond> capacities,
                                         std::span<const Congestion> congestion) {
    std::vector<FluidLink> links;
    for (const BytesPerSecond capacity : capacities) links.push_back({capacity});
    for (std::size_t link = 0; link < congestion.size(); ++link) links[link].congestion = congestion[link];
    return links;
  }

  FluidNetwork network_;
};

}  // namespace farandole
