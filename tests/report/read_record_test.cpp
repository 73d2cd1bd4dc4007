// Every point comes back from its record as it was, whatever its numbers are.
#include <cmath>
#include <concepts>
#include <optional>
#include <type_traits>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "report/record.hpp"

namespace farandole::read_record_test { namespace {

/// Finite numbers of all sizes, with all their digits.
double number() {
  const double mantissa =
      static_cast<double>(*rc::gen::inRange<std::int64_t>(-(std::int64_t{1} << 53), std::int64_t{1} << 53));
  return std::ldexp(mantissa, *rc::gen::inRange(-200, 200));
}

/// Sizes are written as integers where they are whole.
Bytes size() {
  return Bytes(*rc::gen::arbitrary<bool>() ? std::floor(std::abs(number())) : std::abs(number()));
}

std::string text() {
  return *rc::gen::element<std::string>("", "vgg16", "with \"quotes\", commas\nand lines", "Ωμέγα", "/platform/ranks");
}

/// Puts something into every member that a field list names.
class Filler {
 public:
  template <class T>
  void operator()(const char*, T& member, const Field& = {}) {
    fill(member);
  }
  template <class T>
  void part(T& part, const Field& = {}) {
    fill(part);
  }
  void entry(std::string& name, auto& value) {
    name = fmt::format("name {}", ++names_);  // keys: each once
    fill(value);
  }
  void json_entry(std::string& name, std::string& json) {
    name = fmt::format("name {}", ++names_);
    json = json_text(Record(text()));
  }
  void ends(const char*, std::optional<double>& low, std::optional<double>& high) {
    fill(low);
    if (low) fill(high);
  }
  template <class T>
  void settled(T& member, const T& value) {
    member = value;
  }
  template <class T>
  void derived(const char*, const T&, const Field& = {}) {}
  template <class T>
  void unwritten(const T&) {}

 private:
  template <std::integral T>
  void fill(T& member) {
    member = *rc::gen::arbitrary<T>();
  }
  void fill(double& member) { member = number(); }
  void fill(std::string& member) { member = text(); }
  void fill(Bytes& member) { member = size(); }
  void fill(Interval& member) { member = {number(), number()}; }
  template <int... D>
  void fill(Quantity<D...>& member) {
    member = Quantity<D...>(number());
  }
  template <class T>
  requires std::is_class_v<T>
  void fill(T& member) { T::fields(member, *this); }
  template <class T>
  void fill(std::optional<T>& member) {
    if (*rc::gen::arbitrary<bool>()) fill(member.emplace());
  }
  template <class T>
  void fill(std::vector<T>& members) {
    for (int i = *rc::gen::inRange(0, 4); i > 0; --i) fill(members.emplace_back());
  }

  int names_ = 0;
};

TrainingPoint point() {
  TrainingPoint point;
  Filler filler;
  TrainingPoint::fields(point, filler);
  Utilisation& use = point.utilisation;
  if (use.sequence_length <= 0) use.sequence_length = 0, use.tokens_per_second = 0;  // a sample is no sequence
  return point;
}

/// What a point holds, member by member, each in words.
class Listing {
 public:
  template <class T>
  void operator()(const char*, const T& member, const Field& = {}) {
    say(member);
  }
  template <class T>
  void part(const T& part, const Field& = {}) {
    say(part);
  }
  void entry(const std::string& name, const auto& value) {
    say(name);
    say(value);
  }
  void json_entry(const std::string& name, const std::string& json) { entry(name, json); }
  void ends(const char*, const std::optional<double>& low, const std::optional<double>& high) {
    say(low);
    say(high);
  }
  template <class T>
  void settled(const T& member, const T&) {
    say(member);
  }
  template <class T>
  void derived(const char*, const T&, const Field& = {}) {}
  template <class T>
  void unwritten(const T&) {}

  std::vector<std::string> members;

 private:
  template <class T>
  requires std::is_arithmetic_v<T>
  void say(T member) {
    members.push_back(fmt::format("{}", member + 0));  // -0.0 comes back as 0.0
  }
  void say(const std::string& member) { members.push_back(member); }
  void say(const Interval& member) {
    say(member.low);
    say(member.high);
  }
  template <int... D>
  void say(Quantity<D...> member) {
    say(member.si());
  }
  template <class T>
  requires std::is_class_v<T>
  void say(const T& member) { T::fields(member, *this); }
  template <class T>
  void say(const std::optional<T>& member) {
    members.emplace_back(member ? "something" : "nothing");
    if (member) say(*member);
  }
  template <class T>
  void say(const std::vector<T>& all) {
    members.push_back(fmt::format("{} of them", all.size()));
    for (const T& member : all) say(member);
  }
};

std::vector<std::string> members_of(const TrainingPoint& point) {
  Listing listing;
  TrainingPoint::fields(point, listing);
  return listing.members;
}

RC_GTEST_PROP(ReadRecord, GivesEveryPointBackByteForByte, ()) {
  const TrainingPoint original = point();
  const std::string written = json_text(to_record(original));
  const TrainingPoint read = training_point(Record::parse(written));
  RC_ASSERT(members_of(read) == members_of(original));
  RC_ASSERT(json_text(to_record(read)) == written);
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

}}  // namespace farandole::read_record_test
