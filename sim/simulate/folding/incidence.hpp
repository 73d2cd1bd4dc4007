// A graph of ranks, transfers and links: which rank sends a transfer, which receives it, which links it crosses.
//
// Vertices are numbered ranks first, then transfers of all phases, then links. Only transfers have edges of their own,
// to ranks and to links; a link that a transfer crosses k times has k edges to it. O(ranks + links + edges): 8 bytes
// per end of an edge, all in one array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulate/routed_schedule.hpp"

namespace farandole {

enum class Bond : std::uint8_t {
  sends,     // between a transfer and its sender
  receives,  // between a transfer and its receiver
  crosses    // between a transfer and a link
};

class Incidence {
 public:
  explicit Incidence(const RoutedSchedule& routed);

  struct Neighbour {
    int vertex;
    Bond bond;
  };

  [[nodiscard]] int vertices() const { return static_cast<int>(offsets_.size()) - 1; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] int transfers() const { return transfers_; }
  [[nodiscard]] int links() const { return vertices() - ranks_ - transfers_; }
  /// The vertex of a transfer, numbered through all phases, and of a link.
  [[nodiscard]] int transfer(int number) const { return ranks_ + number; }
  [[nodiscard]] int link(int index) const { return ranks_ + transfers_ + index; }

  [[nodiscard]] std::span<const Neighbour> neighbours(int vertex) const {
    const auto v = static_cast<std::size_t>(vertex);
    return {neighbours_.data() + offsets_[v], neighbours_.data() + offsets_[v + 1]};
  }

 private:
  int ranks_;
  int transfers_;
  std::vector<std::size_t> offsets_;
  std::vector<Neighbour> neighbours_;
};

}  // namespace farandole
