// Rates that NCCL's search tries for a channel (src/graph/search.cc).
#include <algorithm>
#include <array>

#include "simulate/library/nccl_model.hpp"

namespace farandole { inline namespace simulate {
namespace {

/// src/graph/search.cc: speedArray; 2.7 has 21 where later ones have 22 and 20. Of a NIC's 12.5 GB/s 12 are counted on.
constexpr std::array nccl_tried_rates{48., 30., 24., 18., 15., 12., 10., 9., 7., 6., 5., 4., 3., 2.4, 1.2, .24, .12};

/// Likewise of a NIC's: sm90SpeedArrayInter and sm100SpeedArrayInter.
constexpr std::array tried_between_hopper{48., 45., 42., 40., 30., 24., 22., 20., 17.5,
                                          15., 12., 6.,  3.,  2.4, 1.2, .24, .12};
constexpr std::array tried_between_blackwell{96.,  48., 45.1, 42., 40., 30., 24., 22., 20.,
                                             17.5, 15., 12.,  6.,  3.,  2.4, 1.2, .24, .12};

}  // namespace

std::span<const double> tried_between(int capability, int newest) {
  if (std::min(capability, newest) >= 100) return tried_between_blackwell;
  if (capability >= 90) return tried_between_hopper;
  return nccl_tried_rates;
}

/// search.cc: speedArrayIntra, sm90SpeedArrayIntra and sm100SpeedArrayIntra.
std::span<const double> tried_inside(int capability, int newest) {
  static constexpr std::array ampere{40., 30., 20., 18., 15., 12., 10., 9., 7., 6., 5., 4., 3.};
  static constexpr std::array hopper{60., 50., 40., 30., 24., 20., 15., 12., 11., 6., 3.};
  static constexpr std::array blackwell{90., 80., 70., 60., 50., 40., 30., 24., 20., 19., 18.};
  if (std::min(capability, newest) >= 100) return blackwell;
  if (capability >= 90) return hopper;
  return ampere;
}

double tried_rate(std::span<const double> rates, double link) {
  const auto possible = std::ranges::find_if(rates, [&](double rate) { return rate <= link; });
  return possible == rates.end() ? rates.back() : *possible;
}

}}  // namespace farandole::simulate
