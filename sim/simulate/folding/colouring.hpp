// The coarsest stable colouring of an incidence graph: the fewest colours such that vertices of one colour began with
// the same colour and have, of every bond, equally many neighbours of every colour.
//
// Ranks, transfers and links of one colour then behave alike at every moment of a collective, as long as they began
// alike: whether a rank may go on and how fast a transfer is depends on counts per colour alone (McKay, Congressus
// Numerantium 30, 1981, has the refinement; Ramana, Scheinerman and Ullman, Discrete Mathematics 132, 1994, that such
// colourings keep the values of linear programs, which the levels of max-min sharing are).
//
// By partition refinement (Cardon and Crochemore, TCS 19, 1982): a class that splits is used again to split others,
// but for its largest part, so an edge is looked at O(log vertices) times. Counts are compared, never hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "simulate/routed_schedule.hpp"

namespace farandole { inline namespace simulate {

// A graph of ranks, transfers and links: which rank sends a transfer, which receives it, which links it crosses.
//
// Vertices are numbered ranks first, then transfers of all phases, then links. Only transfers have edges of their own,
// to ranks and to links; a link that a transfer crosses k times has k edges to it. O(ranks + links + edges): 8 bytes
// per end of an edge, all in one array.

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

/// One colour per vertex: 0, 1, ... in the order in which they first appear.
using Colouring = std::vector<int>;

/// `first` has one colour per vertex; vertices of different colours stay apart. No colour may be shared by a transfer
/// and something else.
Colouring coarsest_stable_colouring(const Incidence& graph, const Colouring& first);

/// Whether vertices of one colour have equally many neighbours of every colour and bond; O(edges), on its own.
bool is_stable(const Incidence& graph, const Colouring& colours);

}}  // namespace farandole::simulate
