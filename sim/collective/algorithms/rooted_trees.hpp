// Broadcasts and reduces along trees whose ranks pass the whole array on to all of their children at once.
//
// Direct: the root to everybody, or everybody to the root. Binary: two children each, level by level. K-nomial: a
// binomial tree of radix 4. One phase per level. Split binary: half of the array down either side of the binary tree,
// then every rank exchanges its half with one of the other side (ompi_coll_base_bcast_intra_split_bintree). Source:
// ompi_coll_base_topo_build_tree and ..._build_kmtree, ompi/mca/coll/base/coll_base_topo.c of github.com/open-mpi/ompi,
// whose knomial broadcast has radix 4.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule direct_broadcast(const Shape& shape);
Schedule direct_reduce(const Shape& shape);
Schedule binary_broadcast(const Shape& shape);
Schedule binary_reduce(const Shape& shape);
Schedule split_binary_broadcast(const Shape& shape);
Schedule knomial_broadcast(const Shape& shape);

}  // namespace farandole
