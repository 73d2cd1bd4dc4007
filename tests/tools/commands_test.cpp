// The outward contract: commands, JSON keys, exit statuses.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::commands_test { namespace {

using nlohmann::json;
using test::Finished;
using test::Workplace;
using testing::HasSubstr;
using testing::Not;

const std::string small_run =
    "run " + test::scenario("horovod-512-roce25") + " --set '/sweep={\"/platform/ranks\": [1, 8]}' --quiet";

TEST(RunCommand, PrintsThePointsWithTheirPromisedKeys) {
  const Finished finished = Workplace().farandole(small_run + " --format json");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json result = json::parse(finished.out);
  for (const char* key : {"farandole", "scenario", "settings", "points"}) EXPECT_TRUE(result.contains(key)) << key;
  ASSERT_EQ(result["points"].size(), 2U);
  const json& point = result["points"][1];
  for (const char* key : {"model", "variant", "ranks", "nodes", "platform", "strategy", "mode", "algorithm", "fidelity",
                          "iteration_seconds", "iteration_seconds_p95", "samples_per_second", "scaling_efficiency"}) {
    EXPECT_TRUE(point.contains(key)) << key;
  }
  double sum = 0;
  for (const char* key :
       {"compute", "exposed_communication", "negotiation", "straggler", "input", "checkpoint", "other"}) {
    sum += point["breakdown"].at(key).get<double>();
  }
  EXPECT_NEAR(sum / point["iteration_seconds"].get<double>(), 1, 1e-9);
}

TEST(RunCommand, PrintsWhatToSetInNumbersThatCanBeTyped) {
  const Finished finished = Workplace().farandole(small_run + " --explain --fidelity analytic");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("--set '/strategy/coordinator_per_message=\"5.45e-07 s\"'"));
  EXPECT_THAT(finished.out, Not(testing::ContainsRegex("--set[^\n]*[.][0-9]{6}")));
}

TEST(RunCommand, PrintsTheAnswerFirstAndAllSettingsOnlyWhenAsked) {
  const Workplace place;
  const std::string table = place.farandole(small_run).out;
  EXPECT_LT(std::ranges::count(table.substr(0, table.find("iteration (ms)")), '\n'), 5) << table;
  EXPECT_EQ(table.find("simgrid."), std::string::npos);
  EXPECT_THAT(table, HasSubstr(" more: --settings)\n"));
  EXPECT_THAT(table, HasSubstr("#   measure.seed: 1\n"));
  const std::string all = place.farandole(small_run + " --settings").out;
  EXPECT_GT(all.find("simgrid."), all.find("Share of the iteration"));
  EXPECT_NE(all.find("simgrid."), std::string::npos);
  EXPECT_EQ(place.farandole(small_run + " --settings --format json").out,
            place.farandole(small_run + " --format json").out);
}

TEST(CollectiveCommand, PrintsANcclTestsTableWithoutSettingsBeforeIt) {
  const Workplace place;
  const std::string collective = "collective -b 1M -e 1M --topology ethernet-25g --ranks 4";
  const std::string table = place.farandole(collective).out;
  EXPECT_EQ(std::ranges::count(table.substr(0, table.find("1048576")), '\n'), 5) << table;
  EXPECT_EQ(table.find("simgrid."), std::string::npos);
  EXPECT_THAT(place.farandole(collective + " --settings").out, HasSubstr("#   simgrid."));
}

TEST(RunCommand, GivesTheSameBytesEveryTime) {
  const Workplace place;
  EXPECT_EQ(place.farandole(small_run + " --format json").out, place.farandole(small_run + " --format json").out);
  EXPECT_NE(place.farandole(small_run + " --format csv").out,
            place.farandole(small_run + " --seed 9 --format csv").out);
}

TEST(RunCommand, TakesAPastedLaunchLine) {
  const Workplace place;
  const Finished finished = place.farandole(
      "run " +
      place
          .write("s.json", R"({"name": "s", "workload": {"model": "vgg16", "variant": "tf_cnn_benchmarks"},
        "platform": {"topology": "roce25-4xp100"}, "strategy": {"version": "0.13.8"},
        "measure": {"iterations": 3, "warmup": 1}})")
          .string() +
      " --format json --launch 'horovodrun -np 8 -H server1:4,server2:4 --cycle-time-ms 3.5 -p 12345 python train.py'");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json result = json::parse(finished.out);
  EXPECT_EQ(result["points"][0]["ranks"], 8);
  EXPECT_EQ(result["points"][0]["nodes"], 2);
  EXPECT_EQ(result["settings"]["horovod.cycle_time"], "3.5 ms");
  EXPECT_THAT(result["settings"]["ignored"].get<std::string>(), HasSubstr("-p 12345"));
  EXPECT_THAT(finished.err, HasSubstr("ignored, no meaning here: -p 12345"));
}

TEST(RunCommand, WritesHorovodsTimelineOnRequest) {
  const Workplace place;
  const Finished finished = place.farandole(small_run + " --timeline t.json --output r.csv --format csv");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(finished.out, "");
  EXPECT_THAT(test::contents(place.folder() / "r.csv"), HasSubstr("scaling_efficiency"));
  const json trace = json::parse(test::contents(place.folder() / "t.json"));
  EXPECT_GT(trace.at("traceEvents").size(), 100U);
  const std::string text = trace.dump();
  for (const char* activity : {"NEGOTIATE_ALLREDUCE", "QUEUE", "MEMCPY_IN_FUSION_BUFFER", "NCCL_ALLREDUCE",
                               "MEMCPY_OUT_FUSION_BUFFER", "CYCLE_START"}) {
    EXPECT_THAT(text, HasSubstr(activity));
  }
}

TEST(RunCommand, TheThreeFidelitiesStandSideBySide) {
  const Finished finished = Workplace().farandole(small_run + " --fidelity all");
  ASSERT_EQ(finished.status, 0) << finished.err;
  for (const char* fidelity : {"analytic", "flow", "message"}) EXPECT_THAT(finished.out, HasSubstr(fidelity));
}

TEST(CollectiveCommand, PrintsThePointsWithTheirPromisedKeys) {
  const Finished finished = Workplace().farandole(
      "collective -b 1M -e 4M -f 2 --op allreduce --algorithm ring --topology ethernet-25g --ranks 8 --format json");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json points = json::parse(finished.out)["points"];
  ASSERT_EQ(points.size(), 3U);
  for (const char* key :
       {"op", "algorithm", "ranks", "bytes", "seconds", "algorithm_bandwidth", "bus_bandwidth", "fidelity", "folded"}) {
    EXPECT_TRUE(points[0].contains(key)) << key;
  }
  // 2 (n-1) (alpha + M / (n B)) with n = 8, alpha = 2 us, M = 1 MiB, B = 3.125 GB/s
  EXPECT_NEAR(points[0]["seconds"].get<double>(), 14 * (2e-6 + 1048576.0 / 8 / 3.125e9), 1e-12);
  EXPECT_NEAR(points[0]["bus_bandwidth"].get<double>() / points[0]["algorithm_bandwidth"].get<double>(), 1.75, 1e-12);
}

TEST(CollectiveCommand, PlacesRanksAsTold) {
  const auto seconds = [](const std::string& placement) {
    const Finished finished = Workplace().farandole(
        "collective -b 64M -e 64M --ranks 8 --topology roce25-4xp100 --algorithm ring --fidelity analytic --format "
        "json "
        "--placement " +
        placement);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return json::parse(finished.out)["points"][0]["seconds"].get<double>();
  };
  // Slot by slot one flow leaves each server; node by node all four of its ranks send to the other one. (A library
  // would take ranks node by node all the same.)
  EXPECT_NEAR(seconds("by_node") / seconds("by_slot"), 4, 0.05);
  EXPECT_NEAR(seconds("'{\"nodes\": \"random\", \"seed\": 5}'") / seconds("by_slot"), 1, 1e-9);
  EXPECT_THAT(Workplace().farandole("collective --ranks 2 --topology ethernet-10g --placement bynode").err,
              HasSubstr("farandole: --placement: expected a placement, got \"bynode\"; did you mean \"by_node\"?"));
}

TEST(CollectiveCommand, ListsTheBusiestLinksAndDrawsThem) {
  const Workplace place;
  const std::string command =
      "collective -b 8M -e 8M --ranks 8 --topology ethernet-25g --links 3 --format json --draw load.svg --algorithm ";
  const Finished ring = place.farandole(command + "ring");
  ASSERT_EQ(ring.status, 0) << ring.err;
  const json point = json::parse(ring.out)["points"][0];
  ASSERT_EQ(point["links"].size(), 3U);
  // 2 (n-1)/n of 8 MiB through every link of 3.125 GB/s
  EXPECT_EQ(point["links"][0]["name"], "node0/nic0/up");
  EXPECT_EQ(point["links"][0]["bytes"], 14680064);
  EXPECT_NEAR(point["links"][0]["utilisation"].get<double>(), 14680064 / 3.125e9 / point["seconds"].get<double>(),
              1e-12);
  EXPECT_THAT(test::contents(place.folder() / "load.svg"), HasSubstr("<svg"));
  EXPECT_THAT(place.farandole("collective --ranks 4 --topology ethernet-25g --links few").err,
              HasSubstr("--links: expected a whole number"));
}

TEST(ShowCommand, WritesTopologiesThatAreTopologiesAgain) {
  const Workplace place;
  ASSERT_EQ(place.farandole("show topology lab-two-tier --format simgrid > net.xml").status, 0);
  ASSERT_EQ(place.farandole("show topology lab-two-tier --format dot > net.dot").status, 0);
  const Finished checked = place.farandole("check net.xml net.dot");
  EXPECT_EQ(checked.out, "net.xml: topology, ok\nnet.dot: topology, ok\n") << checked.err;
  EXPECT_THAT(place.farandole("show topology net.dot").out, HasSubstr("net: a Graphviz graph\n  4 nodes, 4 devices"));
  EXPECT_THAT(place.farandole("show topology net.xml").out, HasSubstr("only the ways between hosts are known"));
  // 6 rounds of a quarter each over links of the same rates.
  const std::string ring = "collective -b 64M -e 64M --ranks 4 --format json --fidelity message --topology ";
  const json xml = json::parse(place.farandole(ring + "net.xml").out);
  const json dot = json::parse(place.farandole(ring + "net.dot").out);
  EXPECT_NEAR(xml["points"][0]["seconds"].get<double>(), dot["points"][0]["seconds"].get<double>(), 1e-9);
  const Finished run = place.farandole("run " + test::scenario("mnist-mlp-tcp25") +
                                       " --set /platform/topology=net.dot --set /sweep={} --set /platform/ranks=4");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("expected a topology that says which device its nodes have"));
}

TEST(RunCommand, ListsTheBusiestLinksAndDrawsTheTopologyByTheirLoad) {
  const Workplace place;
  const Finished finished = place.farandole(small_run + " --links 2 --draw load.svg --format json --jobs 2");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json points = json::parse(finished.out)["points"];
  EXPECT_FALSE(points[0].contains("links"));  // one rank
  ASSERT_EQ(points[1]["links"].size(), 2U);
  for (const char* key : {"name", "bytes", "capacity", "utilisation"}) EXPECT_TRUE(points[1]["links"][0].contains(key));
  EXPECT_THAT(test::contents(place.folder() / "load.svg"), HasSubstr("<svg"));
  EXPECT_THAT(place.farandole(small_run + " --links 2").out, HasSubstr("# Busiest links of vgg16 on 8 ranks (flow)"));
  EXPECT_EQ(place.farandole(small_run + " --draw load.svg --shard 1/2 --output x").status, 2);
}

TEST(CollectiveCommand, TakesTheConditionOfTheLinks) {
  const Workplace place;
  const std::string ring =
      "collective -b 64M -e 64M --ranks 8 --topology ethernet-25g --format json --fidelity analytic";
  const json whole = json::parse(place.farandole(ring).out)["points"][0];
  const json half =
      json::parse(place.farandole(ring + R"( --condition '{"degraded": {"node3": "50 %"}}')").out)["points"][0];
  // 14 rounds of 2 us and 8 MiB at 3.125 GB/s, or at half of it.
  EXPECT_NEAR(whole["seconds"].get<double>(), 14 * (2e-6 + 8388608 / 3.125e9), 1e-9);
  EXPECT_NEAR(half["seconds"].get<double>(), 14 * (2e-6 + 8388608 / 1.5625e9), 1e-9);
  const Finished wrong = place.farandole(ring + R"( --condition '{"degraded": {"node9": "50 %"}}')");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("expected a link that \"node9\""));
}

TEST(CollectiveCommand, CountsTheLinksOfWhatALibraryPicked) {
  const auto point = [](const std::string& algorithm) {
    const Finished finished = Workplace().farandole(
        "collective -b 64M -e 64M --ranks 8 --topology ethernet-25g --links 2 --format json --algorithm " + algorithm);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return json::parse(finished.out)["points"][0];
  };
  const json picked = point("openmpi-4");
  const json same = point(picked["chosen_algorithm"].get<std::string>());
  EXPECT_EQ(picked["links"], same["links"]);
  EXPECT_EQ(picked["bus_bandwidth"], same["bus_bandwidth"]);
}

TEST(ShowCommand, ListsEveryKindAsJson) {
  const Workplace place;
  for (const std::string kind : {"models", "topologies", "algorithms", "strategies"}) {
    const Finished finished = place.farandole("show " + kind + " --format json");
    ASSERT_EQ(finished.status, 0) << finished.err;
    const json rows = json::parse(finished.out).at(kind);
    ASSERT_FALSE(rows.empty());
    for (const json& row : rows) {
      EXPECT_TRUE(row.contains("name"));
      EXPECT_TRUE(row.contains("summary"));
    }
  }
}

TEST(ShowCommand, PrintsTheRingRoundByRound) {
  const Finished finished = Workplace().farandole("show algorithm ring --op allreduce --ranks 4");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("rank 0 sends segment 3 to rank 1"));
}

TEST(ShowCommand, LooksIntoModelsTopologiesAndStrategies) {
  const Workplace place;
  EXPECT_THAT(place.farandole("show model vgg16").out, HasSubstr("138357544"));
  EXPECT_THAT(place.farandole("show topology roce25-4xp100").out, HasSubstr("between nodes"));
  EXPECT_THAT(place.farandole("show topology polaris").out,
              HasSubstr("MPI, where it is named: mpich by libfabric's cxi"));
  EXPECT_THAT(place.farandole("show topology ethernet-25g").out, Not(HasSubstr("MPI, where it is named")));
  EXPECT_THAT(place.farandole("show strategy horovod").out, HasSubstr("fusion_threshold"));
}

TEST(CheckCommand, AcceptsWhatComesWithTheProgram) {
  for (const char* folder : {"scenarios", "topologies", "topologies/devices", "models"}) {
    const Finished finished =
        Workplace().farandole(std::string("check '" FARANDOLE_SOURCE_DIR "'/") + folder + "/*.json");
    EXPECT_EQ(finished.status, 0) << finished.err;
  }
}

TEST(CheckCommand, NamesTheFirstMistake) {
  const Workplace place;
  const auto file = place.write("t.json", R"({"$schema": "x/topology.schema.json", "name": "t", "kind": "strr"})");
  const Finished finished = place.farandole("check " + file.string());
  EXPECT_EQ(finished.status, 2);
  EXPECT_THAT(finished.err, HasSubstr("t.json:1: "));
}

TEST(DoctorCommand, SaysWhatItWasBuiltWith) {
  const Finished finished = Workplace().farandole("doctor");
  EXPECT_EQ(finished.status, 0);
  EXPECT_THAT(finished.out, HasSubstr("simgrid        3.32"));
  EXPECT_THAT(finished.out, HasSubstr("ready"));
}

TEST(Help, OfEveryCommandShowsAnExample) {
  const Workplace place;
  for (const char* command : {"run", "collective", "show", "check", "doctor"}) {
    const Finished finished = place.farandole(std::string(command) + " --help");
    EXPECT_EQ(finished.status, 0);
    EXPECT_THAT(finished.out, HasSubstr("Example:\n  farandole " + std::string(command)));
  }
}

/// horovodrun came with 0.16.2; what somebody pastes today is of the newest release, and the output says of which.
TEST(LaunchLine, WithoutAVersionMeansTheNewestRelease) {
  const test::Workplace place;
  const std::string line =
      "run " + test::scenario("horovod-512-roce25") +
      " --set '/sweep={}' --set '/platform={\"topology\": \"roce25-4xp100\"}' --set /measure/iterations=3"
      " --launch 'horovodrun -np 16 -H a:4,b:4,c:4,d:4 --cycle-time-ms 2 python train.py'";
  const test::Finished newest = place.farandole(line);
  EXPECT_EQ(newest.status, 0) << newest.err;
  EXPECT_THAT(newest.out, HasSubstr("horovod.version: 0.28.1"));
  EXPECT_THAT(newest.err, testing::Not(HasSubstr("HOROVOD_CYCLE_TIME")));
  EXPECT_THAT(place.farandole(line + " --set /strategy/version=0.21.0").out, HasSubstr("horovod.version: 0.21.0"));
}

/// As people write them for Hydra, torchtitan and OmegaConf.
TEST(Settings, BehindTheFileAndWithDotsAreThoseOfSetAndTheLastOneCounts) {
  const test::Workplace place;
  const auto printed = [&](const std::string& settings) {
    const test::Finished run =
        place.farandole("run " + test::scenario("one-node-resnet50") + " --quiet --format json " + settings);
    EXPECT_EQ(run.status, 0) << settings << run.err;
    return run.out;
  };
  const std::string pointers = printed("--set '/sweep={}' --set /platform/ranks=4 --set /measure/iterations=3");
  EXPECT_EQ(printed("--set 'sweep={}' --set platform.ranks=4 --set measure.iterations=3"), pointers);
  EXPECT_EQ(printed("'sweep={}' platform.ranks=4 /measure/iterations=3"), pointers);
  EXPECT_EQ(printed("'sweep={}' platform.ranks=8 --set platform.ranks=4 --set measure.iterations=3"), pointers);
  EXPECT_EQ(printed("--set 'sweep={}' --set platform.ranks=8 platform.ranks=4 measure.iterations=3"), pointers);
}

TEST(Commands, ABarrierHasNoSizes) {
  const Workplace place;
  const Finished one = place.farandole("collective --op barrier --topology dgx-h100 --ranks 16 --format csv");
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(std::ranges::count(one.out, '\n'), 2) << one.out;
  const Finished sized = place.farandole("collective --op barrier --topology dgx-h100 --ranks 16 -e 1G");
  EXPECT_EQ(sized.out.substr(0, sized.out.find('\n')), "# farandole 0.1.0, scenario collective");
  EXPECT_THAT(sized.out, Not(HasSubstr("1073741824")));
  EXPECT_THAT(sized.err, HasSubstr("a barrier carries no data: sizes are not used"));
}

TEST(Commands, MeasuredTimesThatTheDeviceCannotKeepAreNoted) {
  const Workplace place;
  place.write("s.json", R"({"name": "job", "workload": {"model": "llama3_8b", "batch_per_rank": 1, "precision": "bf16",
    "recompute": "full", "measured": [{"ranks": 8, "batch_per_rank": 1, "iteration_seconds": 0.3}]},
    "platform": {"topology": "hgx-h100", "ranks": 8}, "strategy": {"kind": "fsdp"}})");
  const char* const note = "times as long at the device's peak";
  EXPECT_THAT(place.farandole("run s.json").out, HasSubstr(note));
  EXPECT_THAT(place.farandole("run s.json --set /workload/measured/0/iteration_seconds=1.5").out,
              testing::Not(HasSubstr(note)));
}

TEST(Commands, APipelinesWaitsAreSaidBesideItsEfficiency) {
  const Workplace place;
  place.write("s.json", R"({"name": "job", "workload": {"model": "llama3_8b", "batch_per_rank": 1, "precision": "bf16",
    "recompute": "full"}, "platform": {"topology": "hgx-h100", "ranks": 64},
    "strategy": {"kind": "fsdp", "pipeline": 4, "accumulation": 1}})");
  const Finished finished = place.farandole("run s.json --explain --html page.html");
  ASSERT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("stages wait for one another, and for what they send, for 7"));
  EXPECT_THAT(finished.out, HasSubstr("other stages of the pipeline"));
  EXPECT_THAT(test::contents(place.folder() / "page.html"), HasSubstr("is waiting for other stages of its pipeline"));
}

TEST(Commands, NotesThatDifferInTheirNumbersAloneAreOneLineOfASweep) {
  const Workplace place;
  place.write("s.json", R"({"name": "job", "workload": {"model": "llama3_8b", "batch_per_rank": 1, "precision": "bf16",
    "recompute": "full"}, "platform": {"topology": "hgx-h100", "ranks": 64},
    "strategy": {"kind": "fsdp", "pipeline": 4}, "sweep": {"/strategy/accumulation": [1, 2, 3, 16]}})");
  const Finished finished = place.farandole("run s.json");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const std::size_t first = finished.out.find("# note: stages wait");
  ASSERT_NE(first, std::string::npos) << finished.out;
  EXPECT_EQ(finished.out.find("# note: stages wait", first + 1), std::string::npos) << finished.out;
  EXPECT_THAT(finished.out, HasSubstr("(4 of 4 points; numbers of the first)"));
}

}}  // namespace farandole::commands_test
