// The renamed-model test: every measured model beside the same layers under a name that nobody measured.
#include <cstdio>
#include <functional>
#include <set>

#include <gmock/gmock.h>

#include "config/section.hpp"
#include "workload/compute_time.hpp"
#include "workload/files.hpp"

namespace farandole::left_out_test { namespace {

/// What tools/fit_kernels.py wrote of the fits that each leave one model out.
class LeftOut : public testing::Test {
 protected:
  /// `device` with the kernels that were fitted without `model`.
  Device without(const std::string& model, const std::string& device) const {
    Device result = test::device(device);
    for (const auto& [name, fit] : Section(file_.root()).child("fits").members()) {
      if (name == model) result.kernels = read_kernel_rates(fit, result.generation);
    }
    return result;
  }
  Document file_ = Document::read(test::source_folder() / "topologies/devices/kernels/held_out.json");
};

Precision precision_of(Section& row) {
  return read_precision(row.child("precision"));
}

ComputeDemand demand_of(Section& row) {
  return {precision_of(row),
          row.required<int>("batch"),
          "",
          {},
          {},
          Recompute::none,
          read_normalisation(row.child("normalisation"))};
}

Model renamed(Model model) {
  model.name = "mine";
  return model;
}

TEST_F(LeftOut, TheProgramSaysWhatTheFitSays) {
  int rows = 0;
  for (const Value& value : Section(file_.root()).child("rows").elements()) {
    Section row(value);
    const auto model = row.required<std::string>("model");
    const auto on = row.required<std::string>("device");
    const Model layers = renamed(test::model(model, row.required<std::string>("variant")));
    const auto times = compute_times(layers, without(model, on), demand_of(row));
    EXPECT_NEAR(times.total().si() * 1e3 / row.required<double>("left_out_ms"), 1, 2e-3) << model << " on " << on;
    ++rows;
  }
  EXPECT_GT(rows, 90);
}

/// Programs of 2017 and 2018, in half precision or with their own input from disk: slower than any later program. And
/// one that waited for its loader.
bool does_not_count(const std::string& set) {
  return set == "u39kun-pytorch" || set == "horovod-issue-288" || set == "alcf-polaris-tutorial" ||
         set == "byteps-issue-59";
}

struct Renamed {
  std::string row;
  double error = 0;  // of throughput
};

/// Every model, variant, device and precision that was measured, at the batch of its first set: the named model beside
/// the same layers under another name, normalised where that program does, estimated with the fit that never saw it.
std::vector<Renamed> renamed_models(const std::function<Device(const std::string&, const std::string&)>& without) {
  std::set<std::string> seen;
  std::vector<Renamed> result;
  for (const auto& file : test::json_files("topologies/devices")) {
    const Device device = test::device(file.stem());
    for (const Measurement& row : device.measurements) {
      const std::string key = row.model + " " + row.variant + " " + device.name + " " + name(row.precision);
      if (!device.kernels || does_not_count(row.set) || !seen.insert(key).second) continue;
      const Model model = test::model(row.model, row.variant);
      const int batch = row.batch == 0 ? 128 : row.batch;
      const Seconds named = compute_times(model, device, {row.precision, batch, row.set, {}}).total();
      const ComputeDemand same{row.precision, batch, "", {}, {}, Recompute::none, row.normalisation};
      const Seconds other = compute_times(renamed(model), without(row.model, device.name), same).total();
      result.push_back({key, std::abs(named / other - 1)});
    }
  }
  std::ranges::sort(result, {}, &Renamed::error);
  return result;
}

/// Beyond 30 %. fp8 reaches less of its peak than half precision does, and was measured on language models of two sizes
/// only; grouped convolutions in TF32 were slow in TensorFlow 1 (PyTorch's rate is 23 % higher); and two sequences at a
/// time in single precision are too little for tiles of 128 x 128, of which that program's library has smaller ones.
std::set<std::string> known_misses() {
  return {"mpt_3b seq2048 h100 fp8", "bert_large seq512 v100 fp32", "resnext101_32x4d torchvision a100 tf32"};
}

TEST_F(LeftOut, ARenamedModelIsWithin15PercentOfTheNamedOneInTheMedianAndWithin30ButForWhatIsKnown) {
  const auto all = renamed_models([this](const auto& model, const auto& device) { return without(model, device); });
  ASSERT_GT(all.size(), 60U);
  EXPECT_LE(all[all.size() / 2].error, 0.15);
  EXPECT_LE(all[all.size() * 4 / 5].error, 0.20);
  std::printf("%zu points, median %.1f %%\n", all.size(), 100 * all[all.size() / 2].error);
  for (const Renamed& one : all) {
    if (one.error > 0.25) std::printf("  %4.1f %% %s\n", 100 * one.error, one.row.c_str());
    if (known_misses().contains(one.row)) {
      EXPECT_LE(one.error, 0.55) << one.row;
    } else {
      EXPECT_LE(one.error, 0.3) << one.row;
    }
  }
}

}}  // namespace farandole::left_out_test
