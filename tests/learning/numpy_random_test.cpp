// Against numbers that NumPy's documentation and countless notebooks print for seed 42.
#include "learning/numpy_random.hpp"

#include <gtest/gtest.h>

namespace farandole::numpy_random_test { namespace {

TEST(NumpyRandom, DrawsTheNormalDeviatesOfNumpysRandn) {
  NumpyRandom random(42);
  for (const double expected : {0.49671415, -0.1382643, 0.64768854, 1.52302986, -0.23415337, -0.23413696, 1.57921282,
                                0.76743473, -0.46947439, 0.54256004}) {
    EXPECT_NEAR(random.normal(), expected, 5e-9);
  }
}

TEST(NumpyRandom, DrawsTheUniformDeviatesOfNumpysRandomSample) {
  NumpyRandom random(42);
  for (const double expected : {0.37454012, 0.95071431, 0.73199394, 0.59865848, 0.15601864}) {
    EXPECT_NEAR(random.uniform(), expected, 5e-9);
  }
}

}}  // namespace farandole::numpy_random_test
