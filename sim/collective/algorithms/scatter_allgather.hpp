// Broadcast of long arrays: a binomial scatter, then a ring allgather.
//
// Each rank sends about twice the array at most, whatever their number. Sources: Barnett et al., "Interprocessor
// collective communication library (InterCom)", SHPCC 1994 (van de Geijn's algorithm); Thakur, Rabenseifner and Gropp,
// IJHPCA 19(1), 2005, section 4.2.
#pragma once

#include "collective/algorithms.hpp"

namespace farandole {

Schedule scatter_allgather_broadcast(const Shape& shape);

}  // namespace farandole
