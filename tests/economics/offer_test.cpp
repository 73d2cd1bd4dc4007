// Offers as files: read, refused, and every one of topologies/offers/ as it is.
#include "economics/offer.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/document.hpp"
#include "economics/cost.hpp"
#include "economics/kit.hpp"
#include "support/source_folder.hpp"

namespace farandole::offer_test { namespace {

using test::bought;
using test::offer;
using test::offer_document;
using test::rented;
using testing::ElementsAre;
using testing::HasSubstr;

const std::filesystem::path source = test::source_folder();

std::string error_of(const char* text, const std::vector<test::OfferChange>& changes) {
  try {
    offer(text, changes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Offer, RefusesUnitsOfAnotherDimensionAndOtherCurrencies) {
  EXPECT_THAT(error_of(bought, {{"/power/host", "200 USD"}}), HasSubstr("/power/host: expected a power"));
  EXPECT_THAT(error_of(bought, {{"/bought/node_price", "5 USD/h"}}), HasSubstr("expected an amount of money"));
  EXPECT_THAT(error_of(rented, {{"/rented/node_price", "5 USD"}}), HasSubstr("expected a price such as"));
  EXPECT_THAT(error_of(bought, {{"/bought/electricity", "0.1 EUR/kWh"}}), HasSubstr("a price in USD"));
  EXPECT_THAT(error_of(bought, {{"/bought/electricity", "0.1 USD/h"}}), HasSubstr("a price of energy"));
  EXPECT_THAT(error_of(bought, {{"/bought/node_price", "-5 USD"}}), HasSubstr("expected an amount of money"));
}

TEST(Offer, RefusesWhatCannotBe) {
  EXPECT_THAT(error_of(bought, {{"/pue", "0.9"}}), HasSubstr("a ratio of at least 1"));
  EXPECT_THAT(error_of(bought, {{"/bought/utilisation", "0 %"}}), HasSubstr("above 0 %"));
  EXPECT_THAT(error_of(bought, {{"/bought/lifetime", "0 years"}}), HasSubstr("a time above 0"));
  EXPECT_THAT(error_of(bought, {{"/kind", "borrowed"}}), HasSubstr("a kind of offer"));
  EXPECT_THAT(error_of(bought, {{"/bought/lifetme", "3 years"}}), HasSubstr("did you mean \"lifetime\"?"));
}

TEST(Offer, RefusesARangeThatTheValueIsOutsideOf) {
  const auto range = [](const char* low, const char* high) {
    return std::string(R"({ "value": "87600 USD", "low": ")") + low + R"(", "high": ")" + high + "\" }";
  };
  EXPECT_THAT(error_of(bought, {{"/bought/node_price", range("90000 USD", "95000 USD")}}), HasSubstr("between"));
  EXPECT_EQ(error_of(bought, {{"/bought/node_price", range("80000 USD", "95000 USD")}}), "no error");
}

TEST(Offer, ListsItsAssumptionsAndItsUncertainInputs) {
  const Offer unsure = offer(
      bought, {{"/bought/lifetime", R"({ "value": "10 years", "low": "5 years", "high": "12 years",
                                         "confidence": "assumption" })"},
               {"/pue", R"({ "value": 1.5, "low": 1.1, "high": 2, "source": "a survey", "confidence": "verbatim" })"}});
  EXPECT_THAT(unsure.assumptions, ElementsAre("bought/lifetime 10 years"));
  ASSERT_EQ(unsure.uncertain.size(), 2U);
  EXPECT_EQ(unsure.uncertain[0].pointer, "/pue");
  EXPECT_EQ(unsure.uncertain[1].low, "5 years");
}

TEST(Sensitivity, PutsEachInputAtItsEndsAndTheWidestFirst) {
  const Document document = offer_document(
      bought, {{"/bought/lifetime", R"({ "value": "10 years", "low": "9 years", "high": "11 years" })"},
               {"/bought/node_price", R"({ "value": "87600 USD", "low": "8760 USD", "high": "876000 USD" })"}});
  const auto inputs = sensitivity(document, [](const Offer& o) { return o.owned->price * (year / o.owned->lifetime); });
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].input, "bought/node_price");
  EXPECT_NEAR(inputs[0].at_low.si(), 876, 1e-9);
  EXPECT_NEAR(inputs[0].at_high.si(), 87600, 1e-9);
  EXPECT_NEAR(inputs[1].at_low.si(), 87600.0 / 9, 1e-9);
}

TEST(OfferFiles, AreAllReadableAndAgreeWithTheirSchemaAndName) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source / "topologies/offers")) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    const Document document = Document::read(entry.path());
    EXPECT_NO_THROW(check_schema(document, source / "sim/config/schemas/offer.schema.json")) << entry.path();
    EXPECT_EQ(read_offer(document.root()).name, entry.path().stem().string());
  }
  EXPECT_GE(files, 7);
}

}}  // namespace farandole::offer_test
