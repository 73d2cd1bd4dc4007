// --network: who shares the links, SimGrid or our own solver, and that results say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::network_option_test { namespace {

using nlohmann::json;
using test::Finished;
using test::Workplace;
using testing::HasSubstr;
using testing::Not;

const std::string small = "collective -b 1000003 -e 1000003 --algorithm direct --topology lab-two-tier --ranks 4 ";
const std::string large =
    "collective -b 1M -e 1M --op alltoall --algorithm pairwise --topology ethernet-25g --ranks 330 "
    "--fidelity message --no-fold ";

bool has_simgrid(const Workplace& place) {
  return place.farandole("doctor").out.find("our own solver takes its place") == std::string::npos;
}

TEST(NetworkOption, GivesTheSameTimesByEitherSolverAndNamesIt) {
  const Workplace place;
  if (!has_simgrid(place)) GTEST_SKIP() << "built without SimGrid";
  for (const std::string fidelity : {"flow", "message"}) {
    const auto result = [&](const std::string& option) {
      return json::parse(place.farandole(small + "--format json --fidelity " + fidelity + option).out);
    };
    const json usual = result("");
    const json own = result(" --network own");
    const json simgrid = result(" --network simgrid");
    EXPECT_FALSE(usual["settings"].contains("network"));
    EXPECT_TRUE(usual["settings"].contains("simgrid.version"));
    EXPECT_EQ(simgrid["settings"]["network"], "simgrid");
    EXPECT_EQ(own["settings"]["network"], "own");
    EXPECT_FALSE(own["settings"].contains("simgrid.version"));
    EXPECT_EQ(usual["points"], simgrid["points"]);
    const double seconds = own["points"][0]["seconds"];
    EXPECT_NEAR(seconds / simgrid["points"][0]["seconds"].get<double>(), 1, 1e-9) << fidelity;
  }
}

TEST(NetworkOption, IsOursUnaskedWhereMessagesAreTooManyAndAResultSaysSo) {
  const Workplace place;
  if (!has_simgrid(place)) GTEST_SKIP() << "built without SimGrid";
  const Finished usual = place.farandole(large + "--format json");
  EXPECT_THAT(usual.err, HasSubstr("built-in network solver used"));
  EXPECT_THAT(json::parse(usual.out)["settings"]["network"].get<std::string>(), HasSubstr("agree with SimGrid's"));
  const Finished told = place.farandole(large + "--format json --network own");
  EXPECT_THAT(told.err, Not(HasSubstr("note")));
  EXPECT_EQ(json::parse(told.out)["points"], json::parse(usual.out)["points"]);
}

TEST(NetworkOption, IsRefusedWhereItIsNoSolver) {
  const Workplace place;
  for (const std::string& command : {small, "run " + test::scenario("horovod-512-roce25") + " "}) {
    const Finished finished = place.farandole(command + "--network simgird");
    EXPECT_EQ(finished.status, 2);
    EXPECT_THAT(finished.err, HasSubstr("--network: expected simgrid or own, got \"simgird\"; did you mean"));
  }
}

TEST(NetworkOption, OfALibraryOnAMachineThatIsHardlyUsedSimGridHasTheSameTimes) {
  const Workplace place;
  if (!has_simgrid(place)) GTEST_SKIP() << "built without SimGrid";
  place.write("s.json", R"({"name": "job", "workload": {"model": "gpt2_small", "batch_per_rank": 1},
    "strategy": {"kind": "local_sgd"}, "platform": {"topology": "gcp-a3-ultra", "ranks": 13},
    "measure": {"iterations": 2, "warmup": 1}})");
  const auto seconds = [&](const std::string& solver) {
    const Finished finished = place.farandole("run s.json --quiet --format json --network " + solver);
    EXPECT_EQ(finished.status, 0) << finished.err;
    return json::parse(finished.out).at("points").at(0).at("iteration_seconds").get<double>();
  };
  EXPECT_NEAR(seconds("simgrid") / seconds("own"), 1, 1e-9);
}

}}  // namespace farandole::network_option_test
