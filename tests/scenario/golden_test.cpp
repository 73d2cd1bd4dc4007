// Every scenario is run and compared, point by point, with the table kept in tests/golden/; of a study with hundreds of
// points every n-th one.
//
// A difference is a change of results: if it is meant, FARANDOLE_UPDATE_GOLDEN=1 writes the new table, and the change
// log says why.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/reports.hpp"
#include "scenario/run.hpp"
#include "support/source_folder.hpp"

namespace farandole::golden_test { namespace {

using nlohmann::json;

const std::filesystem::path source = test::source_folder();

/// The first epoch, the middle one and the last say enough.
void keep_few_epochs(json& learning) {
  for (const char* key : {"loss", "seconds"}) {
    const json all = learning[key];
    learning[key] = {all.front(), all[all.size() / 2], all.back()};
  }
}

/// Odd, so that every value of every axis comes up.
std::size_t stride_of(std::size_t points) {
  constexpr std::size_t most = 40;
  return points <= most ? 1 : (points / most) | 1U;
}

json points_of(const std::filesystem::path& scenario) {
  const Catalogue catalogue;
  const RunPlan plan = plan_run(Document::read(scenario), catalogue, {});
  std::vector<TrainingPoint> measured;
  for (std::size_t i = 0; i < plan.points.size(); i += stride_of(plan.points.size())) {
    measured.push_back(run_point(plan.points[i], catalogue, nullptr));
  }
  std::ostringstream text;
  write_training(text, Format::json, {plan.scenario, plan.settings}, measured);
  json points = json::parse(text.str())["points"];
  for (json& point : points) {
    if (point.contains("learning")) keep_few_epochs(point["learning"]);
  }
  return points;
}

/// Compilers may round the last digits differently; nothing else may differ.
void expect_same(const json& expected, const json& found, const std::string& where) {
  if (expected.is_object()) {
    ASSERT_EQ(expected.size(), found.size()) << where;
    for (const auto& [key, value] : expected.items()) expect_same(value, found.at(key), where + "/" + key);
  } else if (expected.is_array()) {
    ASSERT_EQ(expected.size(), found.size()) << where;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expect_same(expected[i], found[i], where + "/" + std::to_string(i));
    }
  } else if (expected.is_number()) {
    const double scale = std::max(std::abs(expected.get<double>()), 1e-9);
    EXPECT_NEAR(expected.get<double>() / scale, found.get<double>() / scale, 1e-9) << where;
  } else {
    EXPECT_EQ(expected, found) << where;
  }
}

class Golden : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Golden, GivesThePointsItGaveBefore) {
  const auto golden = source / "tests/golden" / GetParam().filename();
  const json found = points_of(GetParam());
  if (std::getenv("FARANDOLE_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << found.dump(1) << "\n";
  std::ifstream stream(golden);
  ASSERT_TRUE(stream) << "no golden table for " << GetParam();
  const json expected = json::parse(stream);
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expect_same(expected[i], found[i], "/" + std::to_string(i));
}

std::vector<std::filesystem::path> scenarios() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() / "scenarios")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

INSTANTIATE_TEST_SUITE_P(EveryScenario, Golden, testing::ValuesIn(scenarios()), [](const auto& scenario) {
  std::string name = scenario.param.stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
});

}}  // namespace farandole::golden_test
