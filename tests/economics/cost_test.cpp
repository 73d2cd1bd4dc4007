// What nodes cost, against sums done by hand.
#include "economics/cost.hpp"

#include <cmath>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "economics/kit.hpp"

namespace farandole::cost_test { namespace {

using test::bought;
using test::offer;
using test::rented;

constexpr NodeUse busy_pair{3, 2, 1.0};  // three nodes of two devices

double per_hour(MoneyPerSecond rate) {
  return (rate * hour).si();
}

TEST(Cost, OfANodeOfOnesOwnIsCapitalAndIdleTimeOverUseAndPowerInUse) {
  // F = 1/h; idle 200 + 2 * 100 = 400 W, busy 200 + 2 * 300 = 800 W, both times 1.5 at 1/kWh: 0.6/h and 1.2/h.
  // (1 + 0.5 * 0.6) / 0.5 + 1.2 = 3.8
  EXPECT_NEAR(per_hour(node_rate(offer(bought), busy_pair)), 3.8, 1e-12);
  // Always in use: 1 + 1.2
  EXPECT_NEAR(per_hour(node_rate(offer(bought, {{"/bought/utilisation", "100 %"}}), busy_pair)), 2.2, 1e-12);
}

TEST(Cost, OfRentIsItsPriceWhateverTheLoad) {
  EXPECT_NEAR(per_hour(node_rate(offer(rented), busy_pair)), 10, 1e-12);
  EXPECT_NEAR(per_hour(node_rate(offer(rented), {1, 8, 0.1})), 10, 1e-12);
}

TEST(Cost, InterestIsThatOfAnAnnuity) {
  // P i / (1 - (1 + i)^-n) a year; 87,600 at 10 % over 10 years, always in use and without electricity.
  const Offer borrowed = offer(
      bought, {{"/bought/interest", "10 %"}, {"/bought/utilisation", "100 %"}, {"/bought/electricity", "0 USD/kWh"}});
  EXPECT_NEAR(per_hour(node_rate(borrowed, busy_pair)), 87600 * 0.1 / (1 - std::pow(1.1, -10)) / 8760, 1e-9);
}

TEST(Cost, OfALifetimeThatIsNextToNothingIsThePriceOverIt) {
  const Offer brief = offer(bought, {{"/bought/interest", "10 %"},
                                     {"/bought/lifetime", "1e-12 years"},
                                     {"/bought/utilisation", "100 %"},
                                     {"/bought/electricity", "0 USD/kWh"}});
  EXPECT_NEAR(per_hour(node_rate(brief, busy_pair)) / (87600 / 1e-12 / 8760), 0.1 / std::log1p(0.1), 1e-9);
}

TEST(Cost, ResidualValueMaintenanceAndStaffCountPerYear) {
  // (87,600 * 0.8 / 10 + 87,600 * 0.05 + 8760) / 8760 an hour = 0.8 + 0.5 + 1
  const Offer kept = offer(bought, {{"/bought/residual", "20 %"},
                                    {"/bought/maintenance", "5 %"},
                                    {"/bought/staff", "8760 USD/year"},
                                    {"/bought/utilisation", "100 %"},
                                    {"/bought/electricity", "0 USD/kWh"}});
  EXPECT_NEAR(per_hour(node_rate(kept, busy_pair)), 2.3, 1e-9);
}

/// The rented node on other terms.
Offer on_terms(const std::string& kind, const std::string& terms) {
  Document document = test::offer_document(rented, {{"/kind", kind}, {"/" + kind, terms}});
  document.remove("/rented");
  return read_offer(document.root());
}

TEST(Cost, AReservedNodeIsPaidWhileItIsIdle) {
  // (2 + 8760 / 8760) / 0.25
  const Offer reserved = on_terms(
      "reserved", R"({ "node_price": "2 USD/h", "upfront": "8760 USD", "term": "1 year", "utilisation": "25 %" })");
  EXPECT_NEAR(per_hour(node_rate(reserved, busy_pair)), 12, 1e-9);
}

Offer spot(const std::string& mtbf) {
  return on_terms("spot", R"({ "node_price": "3 USD/h", "restart": "1 h", "checkpoint_every": "2 h", "node_mtbf": ")" +
                              mtbf + "\" }");
}

TEST(Cost, InterruptionsStretchAJobAsDalySays) {
  // l = 3 / 30 h; (exp(l 2) - 1) exp(l 1) / (l 2)
  EXPECT_NEAR(stretch_of(spot("30 h"), 3), std::expm1(0.2) * std::exp(0.1) / 0.2, 1e-12);
  EXPECT_EQ(stretch_of(offer(rented), 3), 1);
  // Rare ones cost a restart and half a checkpoint interval each: 1 + l (R + t/2).
  EXPECT_NEAR(stretch_of(spot("300000 h"), 3), 1 + 3.0 / 300000 * (1 + 1), 1e-8);
}

RC_GTEST_PROP(Cost, AtBreakEvenANodeCostsWhatItDoesElsewhere, ()) {
  const double elsewhere = *rc::gen::inRange(130, 2000) / 100.0;
  const NodeUse use{1, 2, *rc::gen::inRange(0, 101) / 100.0};
  const MoneyPerSecond price = Money(elsewhere) / hour;
  const auto share = break_even_of(rate_of_use(offer(bought), use), {MoneyPerSecond(0), price}).from;
  if (!share) {
    const Offer always = offer(bought, {{"/bought/utilisation", "100 %"}});
    RC_ASSERT(node_rate(always, use) > price);
  } else {
    Offer at_break_even = offer(bought);
    at_break_even.utilisation = *share;
    RC_ASSERT(std::abs(node_rate(at_break_even, use) / price - 1) < 1e-9);
  }
}

/// Utilisation is the owner's: against what is paid for while idle too, both are in use for the same share of the time.
RC_GTEST_PROP(Cost, WhatIsSaidOfBreakEvenHoldsAtEveryUtilisation, ()) {
  const auto amount = [] { return Money(*rc::gen::inRange(0, 10) / 10.0) / hour; };
  const RateOfUse here{amount(), amount()};
  const RateOfUse there{amount(), amount()};
  const BreakEven even = break_even_of(here, there);
  RC_ASSERT(!even.from || !even.up_to);
  for (int percent = 1; percent <= 100; ++percent) {
    const double u = percent / 100.0;
    const double more = ((here.idle - there.idle) / u + here.use - there.use) * hour / Money(1);
    if (std::abs(more) < 1e-12) continue;  // as dear here as there
    const bool is_said = even.from ? u >= *even.from : even.up_to && u <= *even.up_to;
    RC_ASSERT(is_said == (more < 0));
  }
}

TEST(Cost, OverYearsCountsWhatIsPaidAndInTheLastYearWhatIsLeft) {
  // 3 nodes: 87,600 each at the start; 8760 h * (0.5 * 0.6 + 0.5 * 1.2) a year each. After five of ten years half is
  // left.
  const auto totals = totals_over(offer(bought), busy_pair, 5);
  ASSERT_EQ(totals.size(), 6U);
  EXPECT_NEAR(totals[0].si(), 3 * 87600, 1e-6);
  EXPECT_NEAR(totals[1].si(), 3 * (87600 + 8760 * 0.9), 1e-6);
  EXPECT_NEAR(totals[5].si(), 3 * (87600 / 2.0 + 5 * 8760 * 0.9), 1e-5);
  EXPECT_NEAR(totals_over(offer(bought), busy_pair, 12)[11].si(), 3 * (2 * 87600 + 11 * 8760 * 0.9), 1e-5);
  // Of the last year it is what the jobs of these years are charged: 0.5 of the time.
  EXPECT_NEAR(totals[5] / (node_rate(offer(bought), busy_pair) * (5 * 0.5 * year) * 3), 1, 1e-12);
  // Rent: nothing at the start.
  EXPECT_EQ(totals_over(offer(rented), busy_pair, 1)[0].si(), 0);
  EXPECT_NEAR(totals_over(offer(rented), busy_pair, 1)[1].si(), 3 * 87600, 1e-6);
}

}}  // namespace farandole::cost_test
