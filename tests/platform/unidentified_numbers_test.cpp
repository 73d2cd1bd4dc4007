// Numbers of shipped topologies that the runs they were inferred from do not identify.
#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "platform/samples.hpp"
#include "units/format.hpp"

namespace farandole::unidentified_numbers_test { namespace {

/// Of a rate; the ends of a range such as "4 GB/s .. 30 GB/s".
double rate(const std::string& text) {
  return std::get<BytesPerSecond>(parse_quantity<BytesPerSecond>(text)).si();
}
std::pair<double, double> ends(const std::string& range) {
  const auto dots = range.find(" .. ");
  return {rate(range.substr(0, dots)), rate(range.substr(dots + 4))};
}

/// What the runs cannot see is where the prior has it, never where their residuals happen to be least: posterior and
/// prior are one, and of a log-normal prior the median is the geometric mean of the ends of its 80 %.
TEST(UnidentifiedNumbers, AreTheMediansOfTheirPriors) {
  int found = 0;
  for (const auto& file : topology_files()) {
    const auto json = Document::read(file).to_json();
    if (!json.contains("calibration") || !json["calibration"].contains("parameters")) continue;
    for (const auto& parameter : json["calibration"]["parameters"]) {
      if (!parameter.contains("not_identified")) continue;
      ++found;
      const std::string pointer = parameter["pointer"];
      const auto [low, high] = ends(parameter["prior"]);
      const double value = rate(json.at(nlohmann::json::json_pointer(pointer)));
      EXPECT_NEAR(value / std::sqrt(low * high), 1, 1e-3) << file << pointer;
      EXPECT_EQ(parameter["between"], parameter["prior"]) << file << pointer;
      EXPECT_EQ(parameter["value"], json.at(nlohmann::json::json_pointer(pointer))) << file << pointer;
    }
  }
  EXPECT_GE(found, 1);
}

}}  // namespace farandole::unidentified_numbers_test
