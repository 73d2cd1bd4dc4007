#include "collective/algorithms/rings.hpp"

namespace farandole { inline namespace collective {
namespace {

int width_of(const Shape& shape) {
  if (shape.ranks_per_node > 1 && shape.ranks % shape.ranks_per_node == 0) return shape.ranks_per_node;
  int width = 1;
  for (int divisor = 1; divisor * divisor <= shape.ranks; ++divisor) {
    if (shape.ranks % divisor == 0) width = divisor;
  }
  return width;
}

}  // namespace

Schedule torus_allreduce(const Shape& shape) {
  return grid_rings("torus", shape, width_of(shape));
}

}}  // namespace farandole::collective
