#include "report/table.hpp"

#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "report/reports.hpp"

namespace farandole::table_test { namespace {

TEST(Table, AlignsNamesLeftAndNumbersRightByCodePoints) {
  Table table({{"name", Align::left}, {"n", Align::right}, {"last", Align::left}});
  table.row({"caf\xc3\xa9", "10", "x"});
  table.row({"modele", "9", "y"});
  std::ostringstream out;
  table.write(out);
  EXPECT_EQ(out.str(),
            "name     n  last\n"
            "caf\xc3\xa9    10  x\n"
            "modele   9  y\n");
}

TEST(Table, RefusesARowOfAnotherLength) {
  Table table({{"a"}, {"b"}});
  EXPECT_THROW(table.row({"1"}), std::logic_error);
}

TEST(Grouped, SeparatesThousands) {
  EXPECT_EQ(grouped(1234567.891, 1), "1,234,567.9");
  EXPECT_EQ(grouped(-1234.5, 1), "-1,234.5");
  EXPECT_EQ(grouped(999, 0), "999");
  EXPECT_EQ(grouped(999.96, 1), "1,000.0");
  EXPECT_EQ(grouped(-123, 0), "-123");
}

TEST(Grouped, HasNoNegativeZero) {
  EXPECT_EQ(grouped(-0.0001, 2), "0.00");
  EXPECT_EQ(signed_percent(-0.00001, 2), "0.00 %");
}

TEST(SignedPercent, AlwaysHasItsSign) {
  EXPECT_EQ(signed_percent(0.0123, 1), "+1.2 %");
  EXPECT_EQ(signed_percent(-0.5, 1), "-50.0 %");
}

TEST(ParseFormat, KnowsEveryNameItLists) {
  for (const std::string& name : format_names()) EXPECT_NE(parse_format(name), std::nullopt) << name;
  EXPECT_EQ(parse_format("xml"), std::nullopt);
  EXPECT_EQ(parse_format("JSON"), std::nullopt);
}

}}  // namespace farandole::table_test
