#include <array>

#include <gmock/gmock.h>

#include "config/message.hpp"
#include "config/named.hpp"

namespace farandole::registry_test { namespace {

using Builder = int (*)(int);
using Row = Entry<Builder>;

int doubled(int x) {
  return 2 * x;
}
int squared(int x) {
  return x * x;
}

TEST(Registry, FindsARowByItsName) {
  const std::array<Row, 2> table{Row{"double", "twice", doubled}, Row{"square", "itself times", squared}};
  const auto document = sample("\"square\"");
  EXPECT_EQ(find(std::span<const Row>(table), "square", "a function", document.root()).builder(3), 9);
  EXPECT_THAT(names(std::span<const Row>(table)), testing::ElementsAre("double", "square"));
}

TEST(Registry, RefusesAnUnknownNameWithTheNearest) {
  const std::array<Row, 2> table{Row{"double", "twice", doubled}, Row{"square", "itself times", squared}};
  const auto document = sample("\"sqaure\"");
  EXPECT_EQ(message_of([&] { find(std::span<const Row>(table), "sqaure", "a function", document.root()); }),
            "s.json:1: /: expected a function, got \"sqaure\"; did you mean \"square\"?");
}

}}  // namespace farandole::registry_test
