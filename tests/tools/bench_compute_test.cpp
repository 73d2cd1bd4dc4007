// farandole bench --compute: on the shim of tests/cuda_shim, and on this machine as it is.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::test::bench_compute_test { namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string on_shim = "LD_LIBRARY_PATH='" FARANDOLE_CUDA_SHIM "' " FARANDOLE_PROGRAM " ";

double total(const json& point) {
  return point.at("forward").get<double>() + point.at("backward").get<double>() + point.at("update").get<double>();
}

constexpr const char* one_gpu = R"({ "name": "one",
  "platform": {"topology": "hgx-h200", "ranks": 1},
  "workload": {"model": "mine.json", "precision": "fp16", "batch_per_rank": 32, "host_dispatch": "0 us"},
  "strategy": {"kind": "ddp"}, "effects": {"step_jitter": "0 %", "device_spread": "0 %"},
  "measure": {"iterations": 1, "warmup": 0}
})";

TEST(BenchCompute, WritesAModelWhoseStepInAScenarioIsWhatWasMeasured) {
  const Workplace place;
  const Finished bench =
      place.run(on_shim +
                "bench --compute resnet18 --precision fp16,tf32 --batch 32,8 -n 3 -w 1 --format json "
                "--model-file mine.json");
  ASSERT_EQ(bench.status, 0) << bench.err;
  const json points = json::parse(bench.out).at("points");
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[1].at("batch_per_rank"), 32);
  EXPECT_EQ(points[1].at("device"), "h200");
  place.write("one.json", one_gpu);
  const Finished run = place.farandole("run one.json --format json");
  ASSERT_EQ(run.status, 0) << run.err;
  const json point = json::parse(run.out).at("points").at(0);
  EXPECT_NEAR(point.at("iteration_seconds").get<double>(), total(points[1]), 1e-3 * total(points[1]));
  EXPECT_THAT(run.out, HasSubstr("farandole bench --compute, Shim GPU, CUDA 12.4, cuBLAS 12.4.1, cuDNN 9.1.0"));
}

/// Between two measured batches the step lies on their line; below the smallest on it too, as they are far apart, and
/// never below what the launches of a batch of nothing take. In proportion to the nearest it would be a part of that.
TEST(BenchCompute, ABatchBesideTheMeasuredOnesFollowsTheStepsInsteadOfItsShareOfTheNearest) {
  const Workplace place;
  const Finished bench = place.run(on_shim +
                                   "bench --compute resnet18 --batch 8,32 -n 3 -w 1 --format json "
                                   "--model-file mine.json");
  ASSERT_EQ(bench.status, 0) << bench.err;
  const json points = json::parse(bench.out).at("points");
  const double slope = (total(points[1]) - total(points[0])) / 24;
  place.write("one.json", one_gpu);
  for (const int batch : {1, 20, 64}) {
    const Finished run =
        place.farandole("run one.json --format json --set /workload/batch_per_rank=" + std::to_string(batch));
    ASSERT_EQ(run.status, 0) << run.err;
    const double expected = total(points[0]) + slope * (batch - 8);
    EXPECT_NEAR(json::parse(run.out).at("points").at(0).at("iteration_seconds").get<double>(), expected,
                1e-3 * expected)
        << batch;
  }
}

TEST(BenchCompute, WritesADeviceWhoseRowsAScenarioTakes) {
  const Workplace place;
  const Finished bench =
      place.run(on_shim + "bench --compute resnet18 --batch 32 -n 3 -w 1 --format json --device-file gpu.json");
  ASSERT_EQ(bench.status, 0) << bench.err;
  place.write("one.json", one_gpu);
  const Finished run = place.farandole(
      "run one.json --format json --set /workload/model=resnet18 --set '/platform/override={\"/node/device\": "
      "\"gpu.json\"}'");
  ASSERT_EQ(run.status, 0) << run.err;
  const double step = total(json::parse(bench.out).at("points").at(0));
  const json point = json::parse(run.out).at("points").at(0);
  EXPECT_NEAR(point.at("iteration_seconds").get<double>(), step, 1e-3 * step);
  EXPECT_THAT(run.out, HasSubstr("bench-compute"));
}

TEST(BenchCompute, PrintsATableBesideWhatWouldBeEstimated) {
  const Workplace place;
  const Finished bench = place.run(on_shim + "bench --compute resnet18 --batch 1,8 -n 3 -w 1");
  ASSERT_EQ(bench.status, 0) << bench.err;
  EXPECT_THAT(bench.out, HasSubstr("resnet18 (torchvision) on Shim GPU, 132 multiprocessors"));
  EXPECT_THAT(bench.out, HasSubstr("cuDNN"));
  EXPECT_THAT(bench.out, HasSubstr("estimate"));
  const Finished csv = place.run(on_shim + "bench --compute resnet18 --batch 1 -n 3 -w 1 --format csv");
  EXPECT_THAT(csv.out, HasSubstr("resnet18,torchvision,h200,fp16,1,conv1,cuDNN,"));
}

TEST(BenchCompute, RefusesWhatItCannotTime) {
  const Workplace place;
  const auto expect_refused = [&](const std::string& arguments, const std::string& message) {
    const Finished finished = place.run(on_shim + "bench --compute " + arguments);
    EXPECT_EQ(finished.status, 2) << arguments;
    EXPECT_THAT(finished.err, HasSubstr(message)) << arguments;
    EXPECT_EQ(finished.out, "") << arguments;
  };
  expect_refused("resnet51", "did you mean \"resnet50\"?");
  expect_refused("resnet18 --precision fp8", "--precision: expected fp32, tf32, fp16 or bf16");
  expect_refused("resnet18 --batch 0", "--batch: expected");
  expect_refused("resnet18 --device h20", "--device: expected");
  expect_refused("resnet18 --op add", "excludes");
  expect_refused("resnet18 --model-file no/where.json", "cannot write no/where.json");
}

TEST(BenchCompute, AsksWhichDeviceItIsWhereNoneOrSeveralHaveItsNumbers) {
  const Workplace place;
  const Finished none = place.run("CUDA_SHIM_MULTIPROCESSORS=7 " + on_shim + "bench --compute resnet18");
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("--device: expected which device of topologies/devices this one is (Shim GPU, 7"));
  const Finished said = place.run("CUDA_SHIM_MULTIPROCESSORS=7 " + on_shim +
                                  "bench --compute resnet18 --batch 1 -n 1 -w 0 --device h100 --format json");
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(json::parse(said.out).at("points").at(0).at("device"), "h100");
}

TEST(BenchCompute, SaysThatThereIsNoDeviceAndFails) {
  const Workplace place;
  const Finished finished =
      place.run("CUDA_VISIBLE_DEVICES= " + on_shim + "bench --compute resnet18 --model-file mine.json");
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.err, HasSubstr("no CUDA device is there: no CUDA-capable device is detected"));
  EXPECT_FALSE(std::filesystem::exists(place.folder() / "mine.json"));
}

/// Whatever this machine has: it measures, or says in one line what is missing.
TEST(BenchCompute, RunsOnThisMachineOrSaysWhatIsMissing) {
  const Workplace place;
  const Finished finished = place.farandole("bench --compute mnist_cnn --batch 1 -n 3 -w 1 --device h200");
  EXPECT_THAT(finished.status, testing::AnyOf(0, 1, 2));
  if (finished.status == 0) return;
  EXPECT_THAT(finished.err, HasSubstr(finished.status == 1 ? "no CUDA device is there: " : " is not found: "));
  EXPECT_EQ(std::ranges::count(finished.err, '\n'), 1);
}

}}  // namespace farandole::test::bench_compute_test
