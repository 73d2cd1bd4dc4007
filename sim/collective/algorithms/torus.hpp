// Allreduce on a two-dimensional torus: rings along the lines, then around the columns, then along the lines.
//
// A line is a node's ranks where they divide the number of ranks, else the grid is as nearly square as it can be; a
// prime number of ranks makes one ring. Source: Mikami et al., "Massively distributed SGD: ImageNet/ResNet-50 training
// in a flash", arXiv:1811.05233, section 2.2.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule torus_allreduce(const Shape& shape);

}  // namespace farandole
