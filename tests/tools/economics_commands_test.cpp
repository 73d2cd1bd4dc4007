// Money, energy and searches as a user meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::economics_commands_test { namespace {

using nlohmann::json;
using test::Finished;
using test::Workplace;
using testing::HasSubstr;

constexpr const char* job = R"({
  "name": "job",
  "workload": { "model": "resnet18", "batch_per_rank": 32 },
  "platform": { "topology": "ethernet-25g", "ranks": 4 },
  "strategy": { "kind": "horovod", "version": "0.19.0" },
  "run": { "samples": 12800, "epochs": 2 },
  "economics": { "offer": "dgx-a100-bought", "compare_with": { "offer": "aws-p4d-on-demand" } },
  "measure": { "iterations": 3, "warmup": 1, "fidelity": "analytic" }
})";

TEST(Economics, OfAPointHasItsPromisedKeys) {
  const Workplace place;
  place.write("job.json", job);
  const Finished finished = place.farandole("run job.json --format json --quiet");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json cost = json::parse(finished.out).at("points").at(0).at("economics");
  for (const char* key :
       {"offer", "kind", "date", "currency", "utilisation", "stretch", "cost_per_node_second", "node_watts",
        "cost_per_sample", "joules_per_sample", "cost_per_epoch", "joules_per_epoch", "cost_per_run", "joules_per_run",
        "node_seconds_per_run", "total_cost_by_year", "sensitivity", "compared_with", "assumptions"}) {
    EXPECT_TRUE(cost.contains(key)) << key;
  }
  EXPECT_EQ(cost["total_cost_by_year"].size(), 6U);
  EXPECT_TRUE(cost["compared_with"]["break_even_utilisation"].is_number());
}

TEST(Economics, IsATableOfCostsBreakEvenYearsAndInputs) {
  const Workplace place;
  place.write("job.json", job);
  const std::string table = place.farandole("run job.json").out;
  for (const char* part : {"Cost and energy", "it pays above", "Cumulative cost of ownership",
                           "with one input at the end of its range", "bought/node_price", "assumes "}) {
    EXPECT_THAT(table, HasSubstr(part));
  }
}

TEST(ShowCommand, ListsOffersAndLooksIntoOne) {
  const Workplace place;
  const json offers = json::parse(place.farandole("show offers --format json").out).at("offers");
  EXPECT_GE(offers.size(), 7U);
  EXPECT_THAT(place.farandole("show offer aws-p4d-spot").out, HasSubstr("spot, prices of "));
  const Finished unknown = place.farandole("show offer aws-p4d-spto");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean \"aws-p4d-spot\"?"));
}

TEST(CheckCommand, ChecksEveryOfferAndSearch) {
  const Workplace place;
  const Finished finished = place.farandole(
      "check '" FARANDOLE_SOURCE_DIR "'/topologies/offers/*.json '" FARANDOLE_SOURCE_DIR "'/scenarios/optimise-*.json");
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("aws-p4d-spot.json: offer, ok"));
}

TEST(Search, SaysWhatItFoundTheSameWhateverTheJobs) {
  const Workplace place;
  place.write("job.json", job);
  const std::string search =
      "run job.json --set '/optimise={\"minimise\": \"cost_per_run\", \"subject_to\": {\"run_seconds\": {\"at_most\": "
      "\"10 h\"}}, \"over\": {\"/platform/ranks\": [1, 2, 4, 8]}}' --format ";
  const Finished finished = place.farandole(search + "json --jobs 1");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const json result = json::parse(finished.out);
  EXPECT_THAT(result.at("answer").get<std::string>(),
              HasSubstr("The least cost_per_run with run_seconds at most 10 h"));
  EXPECT_EQ(result.at("optimum").at("points_run"), 4);
  EXPECT_EQ(result.at("points").size(), 4U);
  EXPECT_EQ(place.farandole(search + "json --jobs 3").out, finished.out);
  EXPECT_THAT(place.farandole(search + "table").out, HasSubstr("\n# The least cost_per_run"));
  EXPECT_EQ(place.farandole(search + "json --resume --output x").status, 2);
}

}}  // namespace farandole::economics_commands_test
