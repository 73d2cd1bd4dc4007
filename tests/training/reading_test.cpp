// What texts of a scenario become: names of types, pasted configurations, and what goes together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "config/error.hpp"
#include "training/gradient_type.hpp"
#include "training/pasted/pasted.hpp"
#include "training/strategy_kit.hpp"

namespace farandole::reading_test { namespace {

using test::StrategyBench;
using test::three_gradients;

Document text_of(const std::string& text) {
  return Document::parse(text, "text.json");
}

TEST(GradientTypes, AreWhatTheirNamesSay) {
  for (const GradientType type : {GradientType::fp32, GradientType::fp16, GradientType::bf16}) {
    const Document document = text_of("\"" + name(type) + "\"");
    EXPECT_EQ(read_gradient_type(document.root()), type);
  }
  EXPECT_THROW(read_gradient_type(text_of(R"("fp8")").root()), InputError);
}

// DistributedOptimizer(num_groups=1): what a group has is sent as one, once its last gradient, of 4 bytes, is there.
TEST(HorovodGroups, OfOneSendAllGradientsTogether) {
  const std::string text = R"("kind": "horovod", "cycle_time": "0 ms", "coordinator_per_message": "0 us")";
  StrategyBench alone(three_gradients(), 2, "{" + text + "}");
  alone.second_iteration();
  EXPECT_THAT(alone.clock.sizes, testing::ElementsAre(2_B, 3_B, 4_B));
  for (const char* groups : {"1", "3", "1000"}) {  // no more than there are gradients
    StrategyBench bench(three_gradients(), 2, "{" + text + R"(, "groups": )" + groups + "}");
    const double seconds = bench.second_iteration().duration.si();
    EXPECT_EQ(bench.clock.sizes.size(), groups == std::string("1") ? 1U : 3U) << groups;
    EXPECT_NEAR(seconds, groups == std::string("1") ? 30 + 9 : 30 + 4, 1e-9) << groups;
  }
}

// Its second allreduce needs what the first gives; one stream is what there is anyway.
TEST(DdpStreams, AreOneWithPowerSgd) {
  const auto made = [](const std::string& streams) {
    return StrategyBench(
               three_gradients(), 2,
               R"({"kind": "ddp", "compression": {"kind": "power_sgd", "rank": 1}, "streams": )" + streams + "}")
        .choice.streams;
  };
  EXPECT_EQ(made("1"), 1);
  EXPECT_THROW(made("2"), InputError);
}

// Of a whole run in YAML only the part that FSDP is given is read; else all of it is that part.
TEST(PastedFoundry, IsTheSameByItselfAndWithinAWholeRun) {
  PastedInto into;
  into.ranks = into.ranks_per_node = 8;
  into.precision = "bf16";
  const auto settings = [&](const std::string& pasted) {
    const Document document = text_of(R"({"kind": "fsdp", "llm_foundry": )" + pasted + "}");
    return to_json(unpaste(document.root(), into, read_text).strategy);
  };
  const auto alone = settings(R"({"sharding_strategy": "SHARD_GRAD_OP", "mixed_precision": "PURE"})");
  EXPECT_EQ(alone.at("sharding_strategy"), "SHARD_GRAD_OP");
  EXPECT_EQ(alone.at("reduce_dtype"), "bf16");
  EXPECT_EQ(settings(R"({"max_seq_len": 2048, "fsdp_config": {"sharding_strategy": "SHARD_GRAD_OP",
                         "mixed_precision": "PURE"}})"),
            alone);
}

}}  // namespace farandole::reading_test
