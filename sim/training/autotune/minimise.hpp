// A local minimum of a function of a few variables.
//
// Called by the Gaussian process and by the search for its next point. Quasi-Newton steps (BFGS: Nocedal and Wright,
// "Numerical Optimization", chapter 6) on forward differences, as Horovod's autotuner minimises. Where the function is
// infinite is out of bounds: no step goes there.
#pragma once

#include <functional>

#include <Eigen/Core>

namespace farandole {

using Objective = std::function<double(const Eigen::VectorXd& at)>;

struct Minimum {
  Eigen::VectorXd at;
  double value = 0;
};

/// From a start where the function is finite. Never ends higher than it starts.
Minimum minimise(const Objective& f, const Eigen::VectorXd& start);

}  // namespace farandole
