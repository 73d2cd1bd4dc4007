#include <boost/math/distributions/normal.hpp>

#include "training/random.hpp"

namespace farandole { inline namespace training {

double normal_quantile(double probability) {
  return boost::math::quantile(boost::math::normal_distribution<double>(), probability);
}

}}  // namespace farandole::training
