// Real measurements from a small TCP network: calibrated on ping-pongs, exchanges and one collective at 2 and 4 hosts,
// the other collectives are predicted.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "calibration/fit.hpp"
#include "calibration/read_measurements.hpp"
#include "calibration/validation.hpp"

namespace farandole {
namespace {

struct Lab {
  const char* families[2];
  const char* rate;
  const char* mtu;
  Bytes least;  // below, TCP and the token bucket scatter by tens of percent
};

class LoopbackLab : public testing::TestWithParam<Lab> {
 protected:
  static bool calibrates(const MeasuredTime& row) {
    return row.operation == pingpong || row.operation == exchange ||
           (row.operation == "allreduce" && row.algorithm == "ring");
  }
  [[nodiscard]] std::vector<MeasuredTime> rows(bool for_calibration) const {
    const auto file = std::filesystem::path(FARANDOLE_SOURCE_DIR) / "tests/calibration/data/loopback-lab.jsonl";
    std::vector<MeasuredTime> wanted;
    for (const MeasuredTime& row : read_measurements(file)) {
      const bool here = row.family == GetParam().families[0] || row.family == GetParam().families[1];
      const bool large = for_calibration || row.bytes >= GetParam().least;
      if (here && large && !row.doubt && calibrates(row) == for_calibration) wanted.push_back(row);
    }
    return wanted;
  }
  [[nodiscard]] std::vector<double> error_sizes() const {
    Document topology = Document::read(std::filesystem::path(FARANDOLE_SOURCE_DIR) / "topologies/lab-star.json");
    topology.set("/node/nic/rate", GetParam().rate);
    topology.set("/node/nic/protocol/mtu", GetParam().mtu);
    const Document calibrated = calibrated_file(fit(topology, rows(true)), {"", {}});
    std::vector<double> sizes;
    for (const ValidationPoint& point : validate(calibrated, rows(false))) sizes.push_back(std::abs(point.error));
    std::ranges::sort(sizes);
    return sizes;
  }
};

TEST_P(LoopbackLab, IsPredictedWithinFourPercentInTheMedianAndTwelveNineTimesInTen) {
  const auto sizes = error_sizes();
  ASSERT_GT(sizes.size(), 40U);
  EXPECT_LT(sizes[sizes.size() / 2], 0.04);
  EXPECT_LT(sizes[sizes.size() * 9 / 10], 0.12);
}

INSTANTIATE_TEST_SUITE_P(AtBothRates, LoopbackLab,
                         testing::Values(Lab{{"n2_r100", "n4_r100"}, "100 Mbit/s", "1500 B", 256_KiB},
                                         Lab{{"n2_r400", "n4_r400"}, "400 Mbit/s", "9000 B", 1_MiB}),
                         [](const auto& test) { return test.index == 0 ? "Rate100" : "Rate400"; });

}  // namespace
}  // namespace farandole
