// PowerSGD: a gradient matrix M sent as two thin ones, M = P Q^T, by one step of a power iteration.
//
//   P = sum of M_r Q, made orthonormal;   Q = sum of M_r^T P;   what all ranks take for the sum: P Q^T
//
// Q starts from seeded normal numbers, alike on all ranks, and is kept from step to step. Both sums are allreduces over
// the schedule. (Vogels, Karimireddy, Jaggi, PowerSGD, NeurIPS 2019, algorithm 1.) The part of the weights that is no
// matrix travels whole with P; so does a matrix that would not get shorter by half.
#pragma once

#include "learning/carrier.hpp"
#include "learning/problem.hpp"

namespace farandole {

class PowerSgd {
 public:
  PowerSgd(MatrixShape shape, int rank);

  /// `contributions[r]` becomes the sum that rank r holds.
  void sum(Carrier& carrier, std::vector<Vector>& contributions);

 private:
  MatrixShape shape_;
  bool is_worth_it_;
  Eigen::MatrixXd q_;  // columns x rank
};

}  // namespace farandole
