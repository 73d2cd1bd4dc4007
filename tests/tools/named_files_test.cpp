// Files that a scenario names, or that those name: part of what a result depends on, and never written.
#include <gmock/gmock.h>

#include "tools/process.hpp"

namespace farandole::test::named_files_test { namespace {

using testing::HasSubstr;

const std::string stage_1 = R"({"zero_optimization": {"stage": 1}, "fp16": {"enabled": true}})";
const std::string stage_2 = R"({"zero_optimization": {"stage": 2}, "fp16": {"enabled": true}})";

class NamedFiles : public testing::Test {
 protected:
  NamedFiles() {
    place.write("s.json", R"({"name": "s", "workload": {"model": "resnet18", "batch_per_rank": 32, "precision": "fp16"},
      "platform": {"topology": "./t.json", "ranks": 2}, "strategy": {"kind": "zero", "deepspeed": "./ds.json"},
      "measure": {"iterations": 3, "warmup": 0, "fidelity": "analytic"}, "sweep": {"/platform/ranks": [1, 2]}})");
    place.write("t.json", R"({"name": "t", "summary": "t", "kind": "graph", "nodes": 2,
      "node": {"devices": 1, "device": "p100"}, "network": {"file": "n.dot"}})");
    write_graph("10 Gbit/s");
    place.write("ds.json", stage_2);
  }
  void write_graph(const std::string& rate) const {
    place.write("n.dot", "graph { a [kind=host]; b [kind=host]; s; edge [rate=\"" + rate +
                             "\", latency=\"1 us\"]; a -- s; b -- s; }");
  }
  [[nodiscard]] Finished shard(int number) const {
    const std::string which = std::to_string(number);
    const Finished run = place.farandole("run s.json --format json --shard " + which + "/2 --output s" + which);
    EXPECT_EQ(run.status, 0) << run.err;
    return run;
  }
  [[nodiscard]] Finished merged() const {
    (void)shard(2);
    return place.farandole("merge s1 s2 --output all.json");
  }

  Workplace place;
};

// A pasted configuration or a graph that was edited between two halves of a study would mix two of them.
TEST_F(NamedFiles, ArePartOfTheIdentityOfAStudy) {
  (void)shard(1);
  place.write("ds.json", stage_1);
  EXPECT_THAT(merged().err, HasSubstr("with other values, options or data files"));
  place.write("ds.json", stage_2);
  write_graph("1 Gbit/s");
  EXPECT_THAT(merged().err, HasSubstr("with other values, options or data files"));
  write_graph("10 Gbit/s");
  EXPECT_EQ(merged().err, "");
}

TEST_F(NamedFiles, AreNotWritten) {
  const std::string yaml = "fsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\nmixed_precision: fp16\n";
  place.write("c.yaml", yaml);
  const std::string graph = contents(place.folder() / "n.dot");
  const auto refused = [&](const std::string& line) {
    const Finished run = place.farandole("run s.json " + line);
    EXPECT_EQ(run.status, 2) << line << run.err;
    EXPECT_THAT(run.err, HasSubstr("expected another file than a file of the scenario")) << line;
  };
  for (const std::string option : {"--output", "--html", "--markdown", "--timeline"}) {
    refused(option + " ds.json");
    refused(option + " ./n.dot");
    refused(R"(--set '/strategy={"kind": "fsdp", "accelerate": "c.yaml"}' )" + option + " ./c.yaml");
  }
  place.write("launch.yaml", "num_processes: 2\nnum_machines: 2\n");
  refused(R"(--set '/sweep={}' --set '/platform={"topology": "./t.json"}' )"
          "--launch 'accelerate launch --config_file launch.yaml x.py' --output launch.yaml");
  EXPECT_EQ(contents(place.folder() / "ds.json"), stage_2);
  EXPECT_EQ(contents(place.folder() / "c.yaml"), yaml);
  EXPECT_EQ(contents(place.folder() / "n.dot"), graph);
}

}}  // namespace farandole::test::named_files_test
