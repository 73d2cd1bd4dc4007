// How far steps may lie from what they are estimated to take: by errors of estimates that had not seen them.
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

#include <gmock/gmock.h>

#include "config/error.hpp"
#include "config/section.hpp"
#include "workload/compute_time.hpp"
#include "workload/files.hpp"

namespace farandole::bands_test { namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

EstimateBands fitted_bands() {
  const Document file = test::fitted_kernels();
  return read_estimate_bands(Section(file.root()).child("bands"));
}

bool holds(const TimeBand& outer, const TimeBand& inner) {
  return outer.least <= inner.least && inner.most <= outer.most;
}

TEST(Bands, AnEstimateWithLessToGoOnIsNotNarrower) {
  const EstimateBands bands = fitted_bands();
  EXPECT_EQ(bands.probability, 0.8);
  EXPECT_TRUE(bands.model.is_open());
  EXPECT_TRUE(holds(bands.family, bands.model));
  EXPECT_TRUE(holds(bands.precision, bands.family));
  EXPECT_TRUE(holds(bands.device, bands.precision));
  EXPECT_TRUE(holds(bands.generation, bands.device));
}

TEST(Bands, AreOfWhatWasMeasuredOfTheDeviceBesideTheModel) {
  const EstimateBands bands = fitted_bands();
  const Model model = test::model("densenet121");
  const auto band = [&](const Device& device, Precision precision) {
    return compute_times(model, device, {precision, 32, "", {}}).band;
  };
  const auto of_kin = compute_times(test::model("resnet34"), test::device("v100"), {Precision::fp32, 32, "", {}});
  const auto same = [](const TimeBand& a, const TimeBand& b) { return a.least == b.least && a.most == b.most; };
  EXPECT_TRUE(same(of_kin.band, bands.model));  // ResNets were measured
  EXPECT_TRUE(same(band(test::device("v100"), Precision::fp32), bands.family));
  EXPECT_TRUE(same(band(test::device("a30"), Precision::tf32), bands.precision));  // measured in fp16 only
  EXPECT_TRUE(same(band(test::device("h100_pcie"), Precision::fp16), bands.device));
  EXPECT_TRUE(same(band(test::device("mi300x"), Precision::fp16), bands.generation));
  EXPECT_TRUE(same(band(test::device("knl7230"), Precision::fp32), bands.constant_share));
  Device assumed = test::device("v100");
  assumed.assumed_efficiency = 0.3;
  EXPECT_TRUE(same(band(assumed, Precision::fp32), bands.constant_share));
  EXPECT_THAT(compute_times(model, test::device("v100"), {Precision::fp32, 32, "", {}}).source,
              HasSubstr(", 80 % interval " + describe(bands.family)));
}

/// Calls `visit` for each measured row of a device with its model.
template <class Visit>
void for_rows(const Visit& visit) {
  for (const auto& file : test::json_files("topologies/devices")) {
    const Device device = test::device(file.stem());
    for (const Measurement& row : device.measurements) {
      visit(device, test::model(row.model, row.variant), row, row.batch == 0 ? 128 : row.batch);
    }
  }
}

TEST(Bands, ShrinkToNothingAtABatchThatWasMeasured) {
  int rows = 0;
  for_rows([&](const Device& device, const Model& model, const Measurement& row, int batch) {
    const auto measured = find_measurements(device, model, {row.precision, row.set});
    if (std::ranges::find(measured, &row) == measured.end()) return;  // another row of its set says that batch
    EXPECT_FALSE(compute_times(model, device, {row.precision, batch, row.set, {}}).band.is_open()) << device.name;
    ++rows;
  });
  EXPECT_GT(rows, 100);
}

TEST(Bands, OfAMeasuredStepGrowWithTheDistanceOfItsBatchUpToThatOfAnEstimate) {
  const EstimateBands bands = fitted_bands();
  for_rows([&](const Device& device, const Model& model, const Measurement& row, int batch) {
    TimeBand before;
    for (int other = batch; other <= 64 * batch; other = other * 5 / 4 + 1) {
      const TimeBand band = compute_times(model, device, {row.precision, other, row.set, {}, {{batch, 1_s}}}).band;
      EXPECT_TRUE(holds(band, before)) << device.name << " " << other;
      EXPECT_TRUE(holds(bands.generation, band) || holds(bands.constant_share, band));
      before = band;
    }
  });
  const TimeBand doubled = band_beside({32}, 64, bands.batch_doubled, bands.model);
  EXPECT_NEAR(doubled.most, bands.batch_doubled, 1e-12);
  EXPECT_NEAR(doubled.least, 1 / bands.batch_doubled, 1e-12);
}

/// A device as it is without a model: without its rows, with kernels and bands that were formed without it.
Device without(const Document& held_out, const std::string& model, const std::string& on) {
  Device device = test::device(on);
  std::erase_if(device.measurements, [&](const Measurement& row) { return row.model == model; });
  for (const auto& [name, fit] : Section(held_out.root()).child("fits").members()) {
    if (name != model) continue;
    device.kernels = read_kernel_rates(fit, device.generation);
    device.bands = read_estimate_bands(Section(fit).child("bands"));
  }
  return device;
}

struct Count {
  int inside = 0;
  int all = 0;
  void add(bool is_inside) {
    inside += is_inside ? 1 : 0;
    ++all;
  }
  [[nodiscard]] double share() const { return static_cast<double>(inside) / all; }
};

TEST(Bands, ThreeOfFourMeasuredStepsLieInABandOfFourOfFiveThatWasFormedWithoutTheirModel) {
  const Document file = Document::read(test::source_folder() / "topologies/devices/kernels/held_out.json");
  Count count;
  std::map<std::string, Count> by_model;
  for (const Value& value : Section(file.root()).child("rows").elements()) {
    Section row(value);
    const auto name = row.required<std::string>("model");
    const Model model = test::model(name, row.required<std::string>("variant"));
    const auto times = compute_times(model, without(file, name, row.required<std::string>("device")),
                                     {read_precision(row.child("precision")),
                                      row.required<int>("batch"),
                                      "",
                                      {},
                                      {},
                                      Recompute::none,
                                      read_normalisation(row.child("normalisation"))});
    const double ratio = row.required<double>("measured_ms") / (1e3 * times.total().si());
    const bool is_inside = times.band.least <= ratio && ratio <= times.band.most;
    count.add(is_inside);
    by_model[name].add(is_inside);
  }
  for (const auto& [name, own] : by_model) std::printf("%-18s %2d of %2d\n", name.c_str(), own.inside, own.all);
  std::printf("inside their 80 %% band: %d of %d\n", count.inside, count.all);
  EXPECT_GT(count.all, 90);
  EXPECT_GE(count.share(), 0.75);
}

/// The rows of one program on a device, by batch.
using Batches = std::map<int, Seconds>;

TEST(Bands, MeasuredStepsLieInTheBandOfTheSameProgramsStepAtAnotherBatch) {
  std::map<std::string, Batches> programs;
  std::map<std::string, std::tuple<Device, Model, Precision, Normalisation>> of;
  for_rows([&](const Device& device, const Model& model, const Measurement& row, int batch) {
    if (row.batch == 0) return;
    const std::string key = device.name + model.name + model.variant + name(row.precision) + row.set;
    programs[key].try_emplace(batch, Seconds(batch / row.samples_per_second));
    of.try_emplace(key, device, model, row.precision, row.normalisation);
  });
  Count count;
  for (const auto& [key, batches] : programs) {
    const auto& [device, model, precision, normalisation] = of.at(key);
    for (const auto& [batch, time] : batches) {
      for (const auto& [other, known] : batches) {
        if (batch == other) continue;
        const auto times =
            compute_times(model, device, {precision, batch, "", {}, {{other, known}}, Recompute::none, normalisation});
        const double ratio = time / times.total();
        count.add(times.band.least <= ratio && ratio <= times.band.most);
      }
    }
  }
  std::printf("inside the band of another batch: %d of %d\n", count.inside, count.all);
  EXPECT_GE(count.all, 30);
  EXPECT_GE(count.share(), 0.75);
}

TEST(Bands, AreRefusedWhereTheyAreNone) {
  const auto reading = [](const std::string& ends) {
    return [=] {
      const Document document = Document::parse(
          R"({"probability": 0.8, "families": ["vgg"], "model": )" + ends +
              R"(, "family": [1, 1], "precision": [1, 1], "device": [1, 1], "generation": [1, 1], "constant_share": [1, 1],
                  "batch_doubled": 1})",
          "bands.json");
      read_estimate_bands(document.root());
    };
  };
  EXPECT_NO_THROW(reading("[0.5, 2]")());
  EXPECT_THAT(reading("[0.5]"), ThrowsMessage<InputError>(HasSubstr("two factors")));
  EXPECT_THAT(reading("[1.5, 2]"), ThrowsMessage<InputError>(HasSubstr("a factor up to 1 and one from 1 on")));
}

}}  // namespace farandole::bands_test
