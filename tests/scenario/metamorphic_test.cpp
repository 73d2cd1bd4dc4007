// Relations between results of random scenarios, and their products with what must change nothing.
//
// FARANDOLE_METAMORPHIC=SEED[:CHECKS] tries others; a violation names the seed of its scenario,
// FARANDOLE_METAMORPHIC=SEED:1 tries that one alone and prints it.
#include <cstdlib>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "scenario/metamorphic_kit.hpp"
#include "simulate/invariant.hpp"

namespace farandole::metamorphic_test { namespace {

using test::Case;
using test::Invariance;
using test::Random;
using test::Relation;

/// How often each relation was tried, and what was wrong.
class Tally {
 public:
  void count(const std::string& relation) { ++rows_[relation].tried; }
  void blame(const std::string& relation, std::uint64_t seed, const Case& drawn, const std::string& what) {
    ++rows_[relation].broken;
    ++violations_;
    if (violations_ <= most_said)
      std::cout << fmt::format("seed {}: {}\n{}  {}\n", seed, relation, what, drawn.scenario.dump());
  }
  void refuse(const std::string& why) { refused_[why.substr(0, 100)]++; }
  [[nodiscard]] int checks() const {
    int sum = 0;
    for (const auto& [name, row] : rows_) sum += row.tried;
    return sum;
  }
  [[nodiscard]] int violations() const { return violations_; }
  void print() const {
    std::cout << fmt::format("{:<40} {:>7} {:>7}\n", "relation", "checks", "broken");
    for (const auto& [name, row] : rows_) std::cout << fmt::format("{:<40} {:>7} {:>7}\n", name, row.tried, row.broken);
    std::cout << fmt::format("{:<40} {:>7} {:>7}\n", "all", checks(), violations_);
    for (const auto& [why, times] : refused_) std::cout << fmt::format("refused {} times: {}\n", times, why);
  }

 private:
  static constexpr int most_said = 40;
  struct Row {
    int tried = 0;
    int broken = 0;
  };
  std::map<std::string, Row> rows_;
  std::map<std::string, int> refused_;
  int violations_ = 0;
};

/// What a check says, or the error that it met: of a change of a scenario that runs, that is a violation too.
template <class Check>
std::optional<std::string> said_by(const Check& check) {
  try {
    return check();
  } catch (const std::exception& error) {
    return fmt::format("    {}\n", error.what());
  }
}

class Scenario {
 public:
  Scenario(std::uint64_t seed, Tally& tally)
      : seed_(seed), random_(seed), tally_(tally), drawn_(test::draw_case(random_)) {}

  void check(int relations) {
    try {
      own_ = test::run(drawn_);
    } catch (const InputError& error) {
      return tally_.refuse(error.what());
    } catch (const std::exception& error) {
      tally_.count("runs");
      return tally_.blame("runs", seed_, drawn_, fmt::format("    {}\n", error.what()));
    }
    for (const Invariance& invariance : test::invariances()) expect_unchanged(invariance);
    for (int i = 0; i < relations; ++i)
      expect_relation(random_.one_of<Relation>({test::relations().begin(), test::relations().end()}));
  }

 private:
  void expect_unchanged(const Invariance& invariance) {
    Case changed = drawn_;
    if (!invariance.change(changed, random_)) return;
    judge(invariance.name, changed, [&]() -> std::optional<std::string> {
      return test::difference(own_, test::run(changed), invariance.but, invariance.rounding);
    });
  }

  /// Of the scenario, or of another that has the same result.
  void expect_relation(const Relation& relation) {
    Case same = drawn_;
    std::vector<std::string> names{relation.name};
    for (int i = random_.between(-1, 2); i > 0; --i) {
      const Invariance invariance =
          random_.one_of<Invariance>({test::invariances().begin(), test::invariances().end()});
      if (invariance.change(same, random_)) names.emplace_back(invariance.name);
    }
    const bool is_alone = names.size() == 1;
    if (!is_alone) said_of_ = fmt::format("    of the same by {}\n", fmt::join(names.begin() + 1, names.end(), ", "));
    judge(relation.name + std::string(is_alone ? "" : " of the same"), same,
          [&] { return relation.violation(same, own_, random_); });
    said_of_.clear();
  }

  template <class Check>
  void judge(const std::string& name, const Case& of_case, const Check& check) {
    const std::optional<std::string> violation = said_by(check);
    if (!violation) return;
    tally_.count(name);
    if (!violation->empty()) tally_.blame(name, seed_, of_case, said_of_ + *violation);
  }

  std::uint64_t seed_;
  Random random_;
  Tally& tally_;
  Case drawn_;
  TrainingPoint own_;
  std::string said_of_;
};

struct Extent {
  std::uint64_t seed = 1;
  int checks = 0;
};

Extent extent(int checks) {
  const char* asked = std::getenv("FARANDOLE_METAMORPHIC");
  if (asked == nullptr) return {1, checks};
  char* end = nullptr;
  const std::uint64_t seed = std::strtoull(asked, &end, 10);
  return {seed, *end == ':' ? std::atoi(end + 1) : checks};
}

void expect_relations(int at_least) {
  const auto [first, checks] = extent(at_least);
  Tally tally;
  for (std::uint64_t seed = first; tally.checks() < checks; ++seed) Scenario(seed, tally).check(8);
  tally.print();
  EXPECT_EQ(tally.violations(), 0);
}

TEST(Metamorphic, RelationsHoldBetweenResultsOfRandomScenarios) {
  expect_relations(500);
}

TEST(SlowMetamorphic, TenThousandRelationsHoldBetweenResultsOfRandomScenarios) {
  expect_relations(10'000);
}

}}  // namespace farandole::metamorphic_test
