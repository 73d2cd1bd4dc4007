#include "config/section.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "units/format.hpp"

namespace farandole { inline namespace config {
namespace {

template <class T>
struct Wanted {};

template <class T>
const T* as(const Value& value) {
  return std::get_if<T>(&value.node().value);
}

bool convert(const Value& value, Wanted<bool>) {
  if (const auto* flag = as<bool>(value)) return *flag;
  value.fail("true or false");
}

std::int64_t convert(const Value& value, Wanted<std::int64_t>) {
  if (const auto* number = as<std::int64_t>(value)) return *number;
  value.fail("an integer");
}

int convert(const Value& value, Wanted<int>) {
  const auto number = convert(value, Wanted<std::int64_t>{});
  using Limits = std::numeric_limits<int>;
  if (number >= Limits::min() && number <= Limits::max()) return static_cast<int>(number);
  value.fail(fmt::format("an integer from {} to {}", Limits::min(), Limits::max()));
}

double convert(const Value& value, Wanted<double>) {
  if (const auto* number = as<double>(value)) return *number;
  if (const auto* number = as<std::int64_t>(value)) return static_cast<double>(*number);
  value.fail("a number");
}

std::string convert(const Value& value, Wanted<std::string>) {
  if (const auto* text = as<std::string>(value)) return *text;
  value.fail("a string");
}

Text convert(const Value& value, Wanted<Text>) {
  Text text{convert(value, Wanted<std::string>{})};
  if (text.value.empty()) value.fail("a string that is not empty");
  return text;
}

Name convert(const Value& value, Wanted<Name>) {
  Name name{convert(value, Wanted<std::string>{})};
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const auto is_of_names = [&](char c) { return is_plain(c) || c == '_' || c == '-' || c == '.'; };
  if (name.value.empty() || !is_plain(name.value.front()) || !std::ranges::all_of(name.value, is_of_names)) {
    value.fail("a name of letters, digits, \"_\", \"-\" and \".\", a letter or a digit first");
  }
  return name;
}

/// What `parse` reads from a string with its unit.
auto with_unit(const Value& value, auto parse) {
  const auto* text = as<std::string>(value);
  const auto parsed = parse(text == nullptr ? std::string_view{} : std::string_view(*text));
  if (const auto* mismatch = std::get_if<UnitMismatch>(&parsed)) {
    if (text != nullptr) value.fail(mismatch->expected, mismatch->got);
    const bool is_number = as<double>(value) != nullptr || as<std::int64_t>(value) != nullptr;
    value.fail(mismatch->expected, value.describe() + (is_number ? " (a number without unit)" : ""));
  }
  return std::get<0>(parsed);
}

Fraction convert(const Value& value, Wanted<Fraction>) {
  return Fraction{with_unit(value, parse_fraction)};
}

template <int B, int S, int F>
Quantity<B, S, F> convert(const Value& value, Wanted<Quantity<B, S, F>>) {
  return with_unit(value, parse_quantity<Quantity<B, S, F>>);
}

template <class T>
std::vector<T> convert(const Value& value, Wanted<std::vector<T>>) {
  std::vector<T> result;
  for (const Value& element : value.elements()) result.push_back(convert(element, Wanted<T>{}));
  return result;
}

bool allowed_everywhere(std::string_view key) {
  return key == "$schema" || key == "comment";
}

/// A misspelt key is better named than the one that is missing for it.
void fail_at_misspelling(const Value& section, const std::string& key, const std::vector<std::string>& known) {
  for (const auto& [name, member] : section.members()) {
    if (allowed_everywhere(name) || std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto hint = suggestion(name, {key});
    if (hint.starts_with("; did you mean")) member.fail(fmt::format("a key {}", quoted(key)), quoted(name), hint);
  }
}

}  // namespace

template <class T>
T read(const Value& value) {
  return convert(value, Wanted<T>{});
}

// NOLINTBEGIN(bugprone-macro-parentheses): a type takes no parentheses.
#define FARANDOLE_READS(T)          \
  template T read<T>(const Value&); \
  template std::vector<T> read<std::vector<T>>(const Value&);
FARANDOLE_READS(bool)
FARANDOLE_READS(int)
FARANDOLE_READS(std::int64_t)
FARANDOLE_READS(double)
FARANDOLE_READS(std::string)
FARANDOLE_READS(Text)
FARANDOLE_READS(Name)
FARANDOLE_READS(Fraction)
FARANDOLE_READS(Bytes)
FARANDOLE_READS(Seconds)
FARANDOLE_READS(BytesPerSecond)
FARANDOLE_READS(Flop)
FARANDOLE_READS(FlopPerSecond)
#undef FARANDOLE_READS
// NOLINTEND(bugprone-macro-parentheses)

double read_part(const Value& where) {
  const double part = read<Fraction>(where).value;
  if (!(part > 0 && part <= 1)) where.fail("a percentage above 0 % and up to 100 %");
  return part;
}

int read_at_least(const Value& value, int least) {
  const int number = read<int>(value);
  if (number < least) value.fail(fmt::format("an integer of at least {}", least));
  return number;
}

std::vector<std::pair<std::string, Value>> listed_members(const Value& where) {
  auto members = where.members();
  std::erase_if(members, [](const auto& member) {
    if (member.first == "comment") (void)read<std::string>(member.second);
    return member.first == "comment";
  });
  return members;
}

Section::Section(const Value& value) : value_(value) {
  if (!value.is_object()) value.fail("an object");
}

Value Section::child(std::string_view key) {
  if (const auto value = maybe(key)) return *value;
  const std::string name(key);
  fail_at_misspelling(value_, name, known_);
  value_.fail(fmt::format("a key {}", quoted(key)), "an object without it");
}

std::optional<Value> Section::maybe(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  return value_.member(key);
}

void Section::finish() const {
  for (const auto& [name, node] : std::get<Node::Object>(value_.node().value)) {
    if (std::ranges::find(known_, name) != known_.end()) continue;
    const Value member = *value_.member(name);
    if (!allowed_everywhere(name)) member.fail("a known key", quoted(name), suggestion(name, known_));
    if (!member.is_string()) member.fail("a string");
  }
}

int read_between(const Value& value, int least, int most) {
  const auto number = read<std::int64_t>(value);
  if (number < least || number > most) {
    value.fail(fmt::format("an integer from {} to {}", counted(least), counted(most)));
  }
  return static_cast<int>(number);
}

void require_at_most(Count count, Count most, std::string_view what, const Value& where) {
  if (count > most) where.fail(fmt::format("at most {} {}", counted(most), what), counted(count));
}

std::string counted(Count count) {
  if (count == Count(Count::too_many)) return "more than 9 x 10^18";
  const std::string digits = fmt::format("{}", count.number());
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

}}  // namespace farandole::config
