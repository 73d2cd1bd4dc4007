// farandole tune: what it prints is what each row gives by hand, fits, keeps the step's samples, and is the best there
// is.
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tools/process.hpp"

namespace farandole::tune_command_test { namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

constexpr const char* horovod = R"({"name": "vgg", "workload": {"model": "vgg16", "batch_per_rank": 32},
  "platform": {"topology": "roce25-4xp100", "ranks": 16}, "strategy": {"kind": "horovod"},
  "measure": {"iterations": 2, "warmup": 1}})";
constexpr const char* ddp = R"({"name": "net", "workload": {"model": "resnet50", "batch_per_rank": 32},
  "platform": {"topology": "dgx-a100", "ranks": 16}, "strategy": {"kind": "ddp", "accumulation": 2},
  "measure": {"iterations": 2, "warmup": 1}})";
constexpr const char* fsdp = R"({"name": "llama",
  "workload": {"model": "llama3_8b", "batch_per_rank": 2, "precision": "bf16", "optimizer": "adam", "recompute": "full"},
  "platform": {"topology": "hgx-h100", "ranks": 16}, "strategy": {"kind": "fsdp"},
  "measure": {"iterations": 2, "warmup": 1}})";
constexpr const char* zero = R"({"name": "llama",
  "workload": {"model": "llama3_8b", "batch_per_rank": 2, "precision": "bf16", "optimizer": "adam", "recompute": "full"},
  "platform": {"topology": "hgx-h100", "ranks": 16}, "strategy": {"kind": "zero", "stage": 2},
  "measure": {"iterations": 2, "warmup": 1}})";

class Tune : public testing::Test {
 protected:
  Json asked(const std::string& file, const std::string& options = "") {
    const test::Finished done = place.farandole("tune " + file + " --format json " + options);
    EXPECT_EQ(done.status, 0) << done.err;
    return Json::parse(done.out);
  }
  Json by_hand(const std::string& file, const Json& set) {
    std::string line = "run " + file + " --format json --quiet";
    for (const auto& [pointer, value] : set.items()) line += " --set '" + pointer + "=" + value.dump() + "'";
    const test::Finished done = place.farandole(line + " --set /measure/bands=false");
    EXPECT_EQ(done.status, 0) << done.err;
    const Json points = Json::parse(done.out).at("points");
    EXPECT_EQ(points.size(), 1U);
    return points.at(0);
  }
  static double seconds(const Json& point) { return point.at("iteration_seconds"); }
  static double bytes(const Json& point) { return point.at("memory").at("total"); }
  static std::vector<Json> rows_of(const Json& answer) {
    std::vector<Json> rows = answer.at("best");
    for (const Json& row : answer.at("numbers")) rows.push_back(row);
    return rows;
  }
  void keeps_its_laws(const std::string& file, const std::string& options = "") {
    const Json answer = asked(file, options);
    const double own = seconds(answer.at("own"));
    const double device = answer.at("own").at("memory").at("device");
    ASSERT_FALSE(answer.at("best").empty()) << file;
    for (const Json& row : rows_of(answer)) {
      Json set = answer.at("configuration");
      set.update(row.at("set"));
      const Json point = by_hand(file + " " + options, set);
      EXPECT_NEAR(seconds(point) / seconds(row.at("point")), 1, 1e-9) << row.at("setting");
      EXPECT_EQ(bytes(point), bytes(row.at("point"))) << row.at("setting");
      EXPECT_LE(seconds(point), own) << row.at("setting");
      EXPECT_LE(bytes(point), device) << row.at("setting");
      const double samples = seconds(point) * point.at("samples_per_second").get<double>();
      EXPECT_NEAR(samples / answer.at("samples_per_step").get<double>(), 1, 1e-9) << row.at("setting");
      EXPECT_GE(row.at("p_faster"), 0.5) << row.at("setting");
      EXPECT_FALSE(row.at("why").get<std::string>().empty()) << row.at("setting");
    }
    const Json& best = answer.at("best");
    for (std::size_t row = 1; row < best.size(); ++row) {
      EXPECT_GT(seconds(best[row].at("point")), seconds(best[row - 1].at("point"))) << row;
      EXPECT_LT(bytes(best[row].at("point")), bytes(best[row - 1].at("point"))) << row;
    }
  }

  const test::Workplace place;
};

TEST_F(Tune, OfHorovodGivesByHandWhatItPrints) {
  place.write("s.json", horovod);
  keeps_its_laws("s.json");
}

TEST_F(Tune, OfDdpGivesByHandWhatItPrints) {
  place.write("s.json", ddp);
  keeps_its_laws("s.json");
}

TEST_F(Tune, OfFsdpGivesByHandWhatItPrints) {
  place.write("s.json", fsdp);
  keeps_its_laws("s.json");
}

TEST_F(Tune, TakesTenIterationsWhereTheScenarioHasMore) {
  Json scenario = Json::parse(ddp);
  scenario.erase("measure");
  place.write("s.json", scenario.dump());
  EXPECT_EQ(asked("s.json").at("configuration"), Json::parse(R"({"/measure": {"iterations": 10, "warmup": 1}})"));
  keeps_its_laws("s.json");
  scenario["measure"] = {{"iterations", 11}, {"warmup", 1}};
  place.write("s.json", scenario.dump());
  EXPECT_EQ(asked("s.json").at("configuration"), Json::parse(R"({"/measure/iterations": 10})"));
  place.write("s.json", ddp);
  EXPECT_EQ(asked("s.json").at("configuration"), Json::object());
}

TEST_F(Tune, OfZeroGivesByHandWhatItPrints) {
  place.write("s.json", zero);
  keeps_its_laws("s.json");
}

TEST_F(Tune, OfDeepspeedsOwnFileGivesByHandWhatItPrints) {
  Json scenario = Json::parse(zero);
  scenario["strategy"] = {
      {"kind", "zero"},
      {"deepspeed",
       {{"zero_optimization", {{"stage", 1}}}, {"bf16", {{"enabled", true}}}, {"train_micro_batch_size_per_gpu", 2}}}};
  place.write("s.json", scenario.dump());
  keeps_its_laws("s.json");
  const std::string set = asked("s.json").at("best").at(0).at("set").dump();
  EXPECT_THAT(set, HasSubstr("/strategy/deepspeed/gradient_accumulation_steps"));
}

TEST_F(Tune, OfAFileThatIsNamedTunesWhatItSays) {
  place.write("accelerate.yaml",
              "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 16\nnum_machines: 2\nfsdp_config:\n"
              "  fsdp_sharding_strategy: FULL_SHARD\n  fsdp_backward_prefetch: NO_PREFETCH\n");
  Json scenario = Json::parse(fsdp);
  scenario["strategy"] = {{"kind", "fsdp"}, {"accelerate", "accelerate.yaml"}};
  place.write("s.json", scenario.dump());
  keeps_its_laws("s.json");
  const Json answer = asked("s.json");
  for (const Json& setting : answer.at("tried")) {  // what the file says as well as what it does not
    for (const Json& value : setting.at("values")) EXPECT_NE(value.at("outcome"), "refused") << setting.dump();
  }
  place.write("ds.json", R"({"zero_optimization": {"stage": 2}, "bf16": {"enabled": true}})");
  scenario["strategy"] = {{"kind", "zero"}, {"deepspeed", "ds.json"}};
  place.write("s.json", scenario.dump());
  keeps_its_laws("s.json");
}

TEST_F(Tune, OfASweepTakesTheLastConfigurationAndSaysHowToRunIt) {
  Json scenario = Json::parse(ddp);
  scenario["sweep"] = {{"/platform/ranks", {8, 32}}, {"/workload/batch_per_rank", {16, 32}}};
  place.write("s.json", scenario.dump());
  keeps_its_laws("s.json");
  EXPECT_EQ(asked("s.json").at("samples_per_step"), 32 * 32 * 2);
}

TEST_F(Tune, FindsWhatAnExhaustiveSearchFinds) {
  Json scenario = Json::parse(horovod);
  scenario["workload"] = {{"model", "bert_large"}, {"batch_per_rank", 4}};
  scenario["platform"] = {{"topology", "dgx-a100"}, {"ranks", 32}};
  scenario["strategy"]["settings"] = {{"HOROVOD_FUSION_THRESHOLD", "2097152"}, {"HOROVOD_CYCLE_TIME", "25"}};
  place.write("s.json", scenario.dump());
  Json threshold = Json::array();
  for (const int mebibytes : {2, 8, 16, 32, 64, 128, 256}) threshold.push_back(std::to_string(mebibytes * 1024 * 1024));
  scenario["measure"]["bands"] = false;
  scenario["sweep"] = {{"/strategy/settings/HOROVOD_FUSION_THRESHOLD", threshold},
                       {"/strategy/settings/HOROVOD_CYCLE_TIME", {"0.5", "1", "2", "5", "10", "25"}},
                       {"/strategy/settings/HOROVOD_HIERARCHICAL_ALLREDUCE", {"0", "1"}}};
  place.write("all.json", scenario.dump());
  const test::Finished done = place.farandole("run all.json --format json --quiet");
  ASSERT_EQ(done.status, 0) << done.err;
  const Json points = Json::parse(done.out).at("points");
  ASSERT_EQ(points.size(), 84U);
  double least = 1e9;
  for (const Json& point : points) least = std::min(least, seconds(point));
  const Json answer = asked("s.json");
  EXPECT_LE(seconds(answer.at("best").at(0).at("point")), least * 1.01);
  double single = seconds(answer.at("own"));
  for (const Json& setting : answer.at("tried")) {
    for (const Json& value : setting.at("values")) {
      const bool counts = value.contains("iteration_seconds") && !setting.at("changes_numbers");
      if (counts) single = std::min(single, value.at("iteration_seconds").get<double>());
    }
  }
  EXPECT_GT(single, least * 1.01) << "no value by itself is enough";
}

TEST_F(Tune, NeverMixesWhatChangesTheNumbersIntoTheRest) {
  place.write("s.json", ddp);
  const Json answer = asked("s.json");
  std::map<std::string, bool> changes_numbers;
  for (const Json& setting : answer.at("tried")) changes_numbers[setting.at("name")] = setting.at("changes_numbers");
  EXPECT_TRUE(changes_numbers.at("compressed gradients"));
  EXPECT_TRUE(changes_numbers.at("micro-batch")) << "batches of a pass are normalised together";
  EXPECT_FALSE(changes_numbers.at("bucket size"));
  for (const Json& row : answer.at("best")) {
    for (const std::string name : row.at("changes")) EXPECT_FALSE(changes_numbers.at(name)) << name;
  }
  ASSERT_FALSE(answer.at("numbers").empty());
  for (const Json& row : answer.at("numbers")) {
    int changing = 0;
    for (const std::string name : row.at("changes")) changing += changes_numbers.at(name) ? 1 : 0;
    EXPECT_EQ(changing, 1) << row.at("setting");
  }
}

TEST_F(Tune, TriesWhatDoesNotFitOnlyToSaySo) {
  Json scenario = Json::parse(fsdp);
  scenario["workload"]["batch_per_rank"] = 4;
  place.write("s.json", scenario.dump());
  keeps_its_laws("s.json");
  std::map<std::string, std::string> outcomes;
  const Json answer = asked("s.json");
  for (const Json& setting : answer.at("tried")) {
    for (const Json& value : setting.at("values")) outcomes[value.at("setting")] = value.at("outcome");
  }
  EXPECT_EQ(outcomes.at("[activation_checkpoint] mode = \"none\""), "does not fit");
  EXPECT_EQ(outcomes.at("[activation_checkpoint] mode = \"full\""), "ran");
}

TEST_F(Tune, SpellsSettingsAsFrameworksDo) {
  place.write("h.json", horovod);
  place.write("d.json", ddp);
  place.write("f.json", fsdp);
  place.write("z.json", zero);
  const std::string of_horovod = asked("h.json").dump();
  EXPECT_THAT(of_horovod, HasSubstr("HOROVOD_FUSION_THRESHOLD=33554432"));
  EXPECT_THAT(of_horovod, HasSubstr("hvd.DistributedOptimizer(compression=hvd.Compression.fp16)"));
  const std::string of_ddp = asked("d.json").dump();
  EXPECT_THAT(of_ddp, HasSubstr("DistributedDataParallel(bucket_cap_mb=50)"));
  EXPECT_THAT(of_ddp, HasSubstr("NCCL_ALGO=Tree"));
  EXPECT_THAT(of_ddp, HasSubstr("register_comm_hook(None, default_hooks.fp16_compress_hook)"));
  const std::string of_fsdp = asked("f.json").dump();
  EXPECT_THAT(of_fsdp, HasSubstr("fully_shard(reshard_after_forward=8)"));
  EXPECT_THAT(of_fsdp, HasSubstr(R"(fully_shard(mesh=init_device_mesh(\"cuda\", (2, 8))))"));
  EXPECT_THAT(of_fsdp, HasSubstr("FullyShardedDataParallel(limit_all_gathers=False)"));
  const std::string of_zero = asked("z.json").dump();
  EXPECT_THAT(of_zero, HasSubstr(R"(\"zero_optimization\": {\"reduce_bucket_size\": 50000000})"));
  EXPECT_THAT(of_zero, HasSubstr(R"(\"train_micro_batch_size_per_gpu\": 1, \"gradient_accumulation_steps\": 2)"));
}

TEST_F(Tune, LeavesOutWhatTheReleaseDoesNotKnow) {
  Json scenario = Json::parse(horovod);
  scenario["strategy"]["version"] = "0.9.6";
  place.write("s.json", scenario.dump());
  const Json answer = asked("s.json");
  for (const Json& setting : answer.at("tried")) {
    if (setting.at("name") != "cycle time") continue;
    for (const Json& value : setting.at("values")) EXPECT_EQ(value.at("outcome"), "refused");
  }
}

TEST_F(Tune, UsesTheKeysThatTheScenarioHas) {
  Json scenario = Json::parse(horovod);
  scenario["strategy"]["fusion_threshold"] = "1 MiB";
  place.write("s.json", scenario.dump());
  keeps_its_laws("s.json");
  EXPECT_THAT(asked("s.json").at("best").at(0).at("set").dump(), HasSubstr("/strategy/fusion_threshold"));
}

TEST_F(Tune, KeepsToItsBudgetAndSaysSo) {
  place.write("s.json", fsdp);
  const Json all = asked("s.json");
  const Json some = asked("s.json", "--budget '100 ms'");
  EXPECT_FALSE(all.at("is_cut_short"));
  EXPECT_TRUE(some.at("is_cut_short"));
  EXPECT_LT(some.at("runs"), all.at("runs"));
  EXPECT_THAT(place.farandole("tune s.json --budget '100 ms'").out, HasSubstr("cut short by --budget"));
}

/// Estimates of folded jobs are many times too high; what runs were seen to take decides.
TEST_F(Tune, OfManyRanksIsNotCutShortByEstimates) {
  place.write("s.json", fsdp);
  const test::Finished done = place.farandole("tune s.json --set /platform/ranks=1024");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, Not(HasSubstr("cut short by --budget")));
}

TEST_F(Tune, SaysWhereThereIsNothingToChange) {
  place.write("s.json", R"({"name": "one", "workload": {"model": "resnet50", "batch_per_rank": 1},
    "platform": {"topology": "dgx-a100", "ranks": 1}, "strategy": {"kind": "single"},
    "measure": {"iterations": 2, "warmup": 1}})");
  const test::Finished done = place.farandole(
      "tune s.json --set '/workload/precision=\"bf16\"' --set "
      "'/workload/model=\"vgg16\"'");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("tune knows no setting of the strategy \"single\""));
}

TEST_F(Tune, RefusesWhatIsWrong) {
  place.write("s.json", ddp);
  place.write("o.json", R"({"optimise": {"minimise": "iteration_seconds", "over": {"/platform/ranks": [8, 16]}},)" +
                            std::string(ddp).substr(1));
  for (const auto& [arguments, words] : std::map<std::string, std::string>{
           {"s.json --budget soon", "--budget: expected"},
           {"s.json --point-timeout '0 s'", "--point-timeout: expected a time above zero"},
           {"s.json --format csv", "--format: expected table or json"},
           {"s.json --network ns3", "--network: expected simgrid or own"},
           {"s.json --set /strategy/kind=7", "/strategy/kind"},
           {"s.json --set '/workload/batch_per_rank=100000'", "ways out"},
           {"o.json", "/optimise: expected a scenario without a search of its own"}}) {
    const test::Finished done = place.farandole("tune " + arguments);
    EXPECT_EQ(done.status, 2) << arguments;
    EXPECT_THAT(done.err, HasSubstr(words)) << arguments;
  }
}

TEST_F(Tune, AnswersInTheFormOfItsSchemaAndOnAPage) {
  place.write("s.json", ddp);
  EXPECT_EQ(place.farandole("tune s.json --format json --output a.json --html a.html").status, 0);
  EXPECT_EQ(place.farandole("check a.json").out, "a.json: tune_answer, ok\n");
  std::string text = test::contents(place.folder() / "a.json");
  place.write("b.json", text.replace(text.find("\"best\""), 6, "\"bset\""));
  EXPECT_THAT(place.farandole("check b.json").err, HasSubstr("bset"));
  EXPECT_THAT(test::contents(place.folder() / "a.html"), HasSubstr("Faster, or in less memory"));
}

TEST_F(Tune, SaysTheSameEveryTime) {
  place.write("s.json", ddp);
  const std::string once = place.farandole("tune s.json").out;
  EXPECT_EQ(place.farandole("tune s.json").out, once);
  EXPECT_THAT(once, HasSubstr("# 1: --set "));
  EXPECT_THAT(once, Not(HasSubstr("cut short")));
}

}}  // namespace farandole::tune_command_test
