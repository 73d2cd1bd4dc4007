// Every point comes back from its record as it was, whatever its numbers are.
#include "report/read_record.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace farandole {
namespace {

/// Finite numbers of all sizes, with all their digits.
double number() {
  const double mantissa =
      static_cast<double>(*rc::gen::inRange<std::int64_t>(-(std::int64_t{1} << 53), std::int64_t{1} << 53));
  return std::ldexp(mantissa, *rc::gen::inRange(-200, 200));
}

Seconds time() {
  return Seconds(number());
}

/// Sizes are written as integers where they are whole.
Bytes size() {
  return Bytes(*rc::gen::arbitrary<bool>() ? std::floor(std::abs(number())) : std::abs(number()));
}

std::string text() {
  return *rc::gen::element<std::string>("", "vgg16", "with \"quotes\", commas\nand lines", "Ωμέγα", "/platform/ranks");
}

template <class Make>
auto some(Make make) {
  std::vector<decltype(make())> all;
  const int count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) all.push_back(make());
  return all;
}

WholeRun whole_run() {
  WholeRun run;
  run.samples = *rc::gen::arbitrary<std::int64_t>();
  run.epochs = *rc::gen::inRange(1, 1000);
  run.global_batch = *rc::gen::inRange<std::int64_t>(1, 1 << 20);
  run.steps_per_epoch = *rc::gen::inRange<std::int64_t>(1, 1 << 20);
  run.distinct_share = number();
  run.startup = time();
  run.epoch = time();
  run.evaluation = time();
  run.total = time();
  run.total_p50 = time();
  run.total_p95 = time();
  run.failures = number();
  run.goodput = number();
  run.samples_per_second = number();
  run.learning_rate = number();
  run.warmup_epochs = number();
  run.caveats = some(text);
  return run;
}

JobCost job_cost() {
  JobCost cost{text(),
               text(),
               text(),
               text(),
               number(),
               number(),
               MoneyPerSecond(number()),
               Watts(number()),
               Money(number()),
               Joules(number()),
               {},
               {},
               {},
               {},
               {},
               {},
               {},
               {},
               {}};
  if (*rc::gen::arbitrary<bool>()) {
    cost.per_epoch = Money(number());
    cost.energy_per_epoch = Joules(number());
    cost.per_run = Money(number());
    cost.energy_per_run = Joules(number());
    cost.node_time = time();
  }
  cost.totals = some([] { return Money(number()); });
  cost.sensitivity = some([] { return CostSensitivity{text(), text(), text(), Money(number()), Money(number())}; });
  if (*rc::gen::arbitrary<bool>()) cost.comparison = CostComparison{text(), text(), Money(number()), {}};
  if (cost.comparison && *rc::gen::arbitrary<bool>()) cost.comparison->break_even_utilisation = number();
  cost.assumptions = some(text);
  return cost;
}

Learning learning() {
  return {text(), some(number), number(), some(number), some(time)};
}

Interval interval() {
  return {number(), number()};
}

Bands bands() {
  Bands bands{number(), interval(), interval(), interval(), interval(), {}, {}};
  if (*rc::gen::arbitrary<bool>()) bands.run = interval();
  if (*rc::gen::arbitrary<bool>()) {
    bands.cost = CostBands{interval(), {}, {}, {}, {}};
    if (*rc::gen::arbitrary<bool>()) bands.cost->per_run = bands.cost->per_sample_elsewhere = interval();
    if (*rc::gen::arbitrary<bool>()) bands.cost->break_even_low = number();
    if (bands.cost->break_even_low && *rc::gen::arbitrary<bool>()) bands.cost->break_even_high = number();
  }
  return bands;
}

/// The names of a waterfall's parts are keys: each once.
Explanation explanation() {
  Explanation all;
  all.waterfall = {{"negotiation", time()}, {"device", time()}};
  all.critical_path = some([] { return PathStep{text(), time(), time()}; });
  all.what_ifs = some([] {
    return WhatIf{text(), text(), number(), number(), time(), number(), {{text(), json_text(Record(text()))}}};
  });
  return all;
}

TrainingPoint point() {
  TrainingPoint point;
  for (std::string* name :
       {&point.model, &point.variant, &point.platform, &point.strategy, &point.mode, &point.strategy_options,
        &point.algorithm, &point.fidelity, &point.precision, &point.gradient_type, &point.compute_source}) {
    *name = text();
  }
  point.ranks = *rc::gen::inRange(1, 1 << 20);
  point.nodes = *rc::gen::inRange(1, 1 << 20);
  point.batch_per_rank = *rc::gen::inRange(1, 4096);
  point.iteration = time();
  point.iteration_p50 = time();
  point.iteration_p95 = time();
  point.samples_per_second = number();
  point.scaling_efficiency = number();
  point.breakdown = {time(), time(), time(), time(), time(), time(), time()};
  point.collectives_per_iteration = *rc::gen::inRange(0, 1000);
  point.gradient_bytes = size();
  point.memory = {size(), size(), size(), size(), size(), size(), size(), size()};
  point.utilisation = {*rc::gen::inRange(1, 1 << 20), number(), number(), number(), std::nullopt, "full"};
  point.folded = *rc::gen::arbitrary<bool>();
  point.notes = some(text);
  point.mean_staleness = number();
  if (*rc::gen::arbitrary<bool>()) point.run = whole_run();
  if (*rc::gen::arbitrary<bool>()) point.cost = job_cost();
  if (*rc::gen::arbitrary<bool>()) point.explanation = explanation();
  if (*rc::gen::arbitrary<bool>()) point.learning = learning();
  if (*rc::gen::arbitrary<bool>()) point.bands = bands();
  return point;
}

RC_GTEST_PROP(ReadRecord, GivesEveryPointBackByteForByte, ()) {
  const Record record = to_record(point());
  const std::string written = json_text(record);
  const Record read = Record::parse(written);
  RC_ASSERT(json_text(to_record(training_point(read))) == written);
}

TEST(ReadRecord, RefusesARecordWithAKeyItDoesNotKnowOrWithoutOneItNeeds) {
  Record record = to_record(TrainingPoint{});
  EXPECT_NO_THROW(training_point(record));
  Record more = record;
  more["new_key"] = 1;
  EXPECT_THROW(training_point(more), std::logic_error);
  record.erase("iteration_seconds");
  EXPECT_THROW(training_point(record), std::logic_error);
}

}  // namespace
}  // namespace farandole
