// Predictions against published numbers, with the tolerance each is held to.
//
// Horovod README and docs/summary.rst: "90% scaling efficiency for both Inception V3 and ResNet-101, and 68% scaling
// efficiency for VGG-16" on 128 servers with 4 Pascal GPUs each, RoCE-capable 25 Gbit/s.
#include <filesystem>

#include <gtest/gtest.h>

#include "config/section.hpp"
#include "scenario/run.hpp"
#include "support/source_folder.hpp"

namespace farandole::published_test { namespace {

const std::filesystem::path source = test::source_folder();

double predicted(const std::string& model, const std::string& topology, int ranks) {
  Document document = Document::read(source / "scenarios/horovod-512-roce25.json").without("sweep");
  document.set("/workload/model", model);
  document.set("/platform/topology", topology);
  document.set("/platform/ranks", std::to_string(ranks));
  return run_document(document, Catalogue(), {}).points.at(0).samples_per_second;
}

TEST(Published, HorovodAt512RanksIsMetWithinFivePointsForTheNetworksThatHideTheirCommunication) {
  for (const auto& [model, single, efficiency] :
       {std::tuple{"inception_v3", 134.4, 0.90}, std::tuple{"resnet101", 119.4, 0.90}}) {
    EXPECT_NEAR(predicted(model, "roce25-4xp100", 512) / (512 * single), efficiency, 0.05) << model;
  }
}

TEST(Published, Vgg16At512RanksIsAKnownMissOfLessThanTenPoints) {
  // The rows that may be used for the fit hide their communication and hardly identify the path rate: see
  // docs/accuracy/horovod-512.md.
  const double efficiency = predicted("vgg16", "roce25-4xp100", 512) / (512 * 130.9);
  EXPECT_NEAR(efficiency, 0.68, 0.10);
}

TEST(Published, TheCalibrationRowsAreMatchedByTheOneFittedNumberPerTransport) {
  const auto file = source / "scenarios/published/horovod-2017-16gpu.json";
  const Document document = Document::read(file);
  for (const auto& [key, rows] : document.root().members()) {
    if (key != "rows") continue;
    for (const Value& row : rows.elements()) {
      Section section(row);
      const auto model = section.required<std::string>("model");
      const auto topology = section.required<std::string>("topology");
      const auto published = section.required<double>("images_per_second");
      EXPECT_NEAR(predicted(model, topology, 16) / published, 1, 0.04) << model << " on " << topology;
    }
  }
}

TEST(Published, ParameterServersOfOneDgx1AreMetWithinFourPercent) {
  const Document published = Document::read(source / "scenarios/published/tf-2017-dgx1.json");
  const Document scenario = Document::read(source / "scenarios/parameter-server-dgx1.json");
  const auto points = run_document(scenario, Catalogue(), {}).points;
  const Value rows = Section(published.root()).child("rows");
  ASSERT_EQ(rows.elements().size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    Section row(rows.elements()[i]);
    ASSERT_EQ(points[i].model, row.required<std::string>("model"));
    ASSERT_EQ(points[i].ranks, row.required<int>("ranks"));
    EXPECT_NEAR(points[i].samples_per_second / row.required<double>("images_per_second"), 1, 0.04)
        << points[i].model << " on " << points[i].ranks;
  }
}

}}  // namespace farandole::published_test
