// A member that no field list names would be lost in the journal and missing in every result.
#include "timeline/fields.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "timeline/difference.hpp"
#include "timeline/measured.hpp"
#include "timeline/result.hpp"
#include "timeline/validation.hpp"

namespace farandole::fields_test { namespace {

/// Initialises any member but an optional one, which it would initialise in two ways.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): that is its use
};
/// How many members an aggregate has: as many as it takes initialisers.
template <class T, class... Given>
constexpr std::size_t member_count() {
  if constexpr (requires { T{std::declval<Given>()..., std::declval<Anything>()}; }) {
    return member_count<T, Given..., Anything>();
  } else if constexpr (requires { T{std::declval<Given>()..., std::declval<std::nullopt_t>()}; }) {
    return member_count<T, Given..., std::nullopt_t>();
  } else {
    return sizeof...(Given);
  }
}

/// Counts the members that a list names, and its lines that name none.
struct Counter {
  std::size_t members = 0;

  template <class T>
  void operator()(const char*, const T&, const Field& = {}) {
    ++members;
  }
  template <class T>
  void part(const T&, const Field& = {}) {
    ++members;
  }
  template <class T>
  void unwritten(const T&) {
    ++members;
  }
  template <class T>
  void settled(const T&, const T&) {
    ++members;
  }
  template <class T>
  void entry(const std::string&, const T&) {
    members += 2;
  }
  void json_entry(const std::string&, const std::string&) { members += 2; }
  void ends(const char*, const std::optional<double>&, const std::optional<double>&) { members += 2; }
  template <class T>
  void derived(const char*, const T&, const Field& = {}) {}
};

template <class T>
std::size_t listed() {
  Counter counter;
  const T any{};
  T::fields(any, counter);
  return counter.members;
}

struct OfFive {
  int a = 0;
  std::string b;
  std::optional<double> c;
  std::optional<LibraryChoice> d{};
  LibraryChoice e;

  static void fields(auto& five, auto& visit) {
    visit("a", five.a);
    visit("b", five.b);
    visit.part(five.e);
  }
};

TEST(FieldListOfATest, ThatLacksTwoOfFiveMembersIsFound) {
  EXPECT_EQ(member_count<OfFive>(), 5U);
  EXPECT_EQ(listed<OfFive>(), 3U);
}

template <class T>
class FieldList : public testing::Test {};

using Listed = testing::Types<Breakdown, ExposedCommunication, MemoryUse, WholeRun, WaterfallPart, PathStep, SetValue,
                              WhatIf, Explanation, Learning, Neighbour, LinkUse, SweptValue, Anchoring::Step, Anchoring,
                              Utilisation, TuningSample, Tuning, CostBands, Bands, CostSensitivity, CostComparison,
                              JobCost, LibraryChoice, CollectivePoint, TrainingPoint, MeasuredPoint, ReplayedPoint,
                              NearlyAsGood, Optimum, Band, ValidationPoint, ComparedSetting, RatioPair>;
TYPED_TEST_SUITE(FieldList, Listed);

TYPED_TEST(FieldList, NamesEveryMember) {
  EXPECT_EQ(listed<TypeParam>(), member_count<TypeParam>());
}

}}  // namespace farandole::fields_test
