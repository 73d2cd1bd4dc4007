// Real iterations of PyTorch's DistributedDataParallel over gloo, with layers that sleep, beside the simulator's.
//
// Inputs: the layer table, the run of one worker (how much longer a sleep takes), and the trace of two workers, where a
// collective under way takes 2.8 % of a worker's processor. Compared: the runs of two and four workers.
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "config/section.hpp"
#include "scenario/scenario.hpp"
#include "scenario/train.hpp"
#include "support/source_folder.hpp"

namespace farandole::training_replay_test { namespace {

const std::filesystem::path data = test::source_folder() / "tests/calibration/data";

struct Replayed {
  std::string mode;
  int workers = 1;
  int accumulation = 1;
  Seconds time;
  double cpu_busy = 0;
};

std::vector<Replayed> runs() {
  std::vector<Replayed> all;
  const Document file = Document::read(data / "lab-training.json");
  for (const Value& value : file.find("/runs")->elements()) {
    Section section(value);
    all.push_back({section.required<std::string>("mode"), section.required<int>("workers"),
                   section.required<int>("accumulation"), Seconds(section.required<double>("seconds")),
                   section.required<double>("cpu_busy")});
  }
  return all;
}

Seconds predicted(const Replayed& run) {
  const Document scenario = Document::parse(
      fmt::format(R"({{"name": "replay",
        "workload": {{"model": "{}", "batch_per_rank": 1, "host_dispatch": "ready"}},
        "platform": {{"topology": "lab-star", "ranks": {},
                      "override": {{"/node/nic/rate": "1000 Mbit/s", "/node/nic/protocol/mtu": "9000 B"}}}},
        "strategy": {{"kind": "ddp", "broadcast_buffers": false, "gradient_as_bucket_view": true,
                       "overlap": {}, "accumulation": {}}},
        "collectives": {{"allreduce": "ring"}},
        "effects": {{"communication_compute_share": "2.8 %"}},
        "measure": {{"iterations": 3, "warmup": 1, "fidelity": "flow"}}}})",
                  (data / "lab-resnet18.json").string(), run.workers, run.mode != "no_overlap", run.accumulation),
      "replay.json");
  return train(read_scenario(scenario.root(), Catalogue()), nullptr).iteration;
}

TEST(TrainingReplay, IterationsOfTheLaboratoryAreMetWithinFourPercent) {
  int compared = 0;
  for (const Replayed& run : runs()) {
    const bool is_input = run.workers == 1 || (run.mode == "ddp_trace" && run.workers == 2);
    if (is_input || run.mode == "no_overlap" || run.cpu_busy > 0.85) continue;
    const double error = predicted(run) / run.time - 1;
    EXPECT_LT(std::abs(error), 0.04) << run.mode << " on " << run.workers;
    ++compared;
  }
  EXPECT_EQ(compared, 5);
}

TEST(TrainingReplay, WithoutOverlapTheCopiesIntoOneArrayAreMissing) {
  // The laboratory's own loop gathers all gradients into one array and scatters them again, on processors that the
  // workers share; the simulator's buckets are views. So the prediction is too fast, and the more workers the more.
  for (const Replayed& run : runs()) {
    if (run.mode != "no_overlap") continue;
    const double error = predicted(run) / run.time - 1;
    EXPECT_LT(error, 0) << run.workers;
    EXPECT_GT(error, run.workers == 2 ? -0.04 : -0.07) << run.workers;
  }
}

TEST(TrainingReplay, TheBucketsAreThoseThatTheFrameworkReports) {
  // 2,048,000, 28,856,224 and 15,853,824 bytes: the last one alone is exposed, 2 (n - 1) / n of it over the payload
  // rate.
  const Replayed two{"ddp", 2, 1, Seconds(0), 0};
  const Replayed one{"ddp", 1, 1, Seconds(0), 0};
  const double payload = 125e6 * 8948 / 9014;
  const double least = 15853824 / payload;
  const double exposed = (predicted(two) - predicted(one)).si();
  EXPECT_GT(exposed, least);
  EXPECT_LT(exposed, least + 0.012);  // and what the collectives take of the processor
}

}}  // namespace farandole::training_replay_test
