#include <cmath>

#include <fmt/format.h>

#include "calibration/traces/traces.hpp"
#include "config/section.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr std::string_view json_blanks = " \t\r\n";
constexpr double most_microseconds = 1e17;  // sums of as many as a file holds stay finite

/// An array that nobody closed, closed.
std::string closed(std::string_view text) {
  std::string whole(text);
  const auto first = whole.find_first_not_of(json_blanks);
  if (first == std::string::npos || whole[first] != '[') return whole;
  auto last = whole.find_last_not_of(json_blanks);
  if (whole[last] == ']') return whole;
  if (whole[last] == ',') --last;
  whole.resize(last + 1);
  return whole + "\n]";
}

bool is_number(const Value& value) {
  return std::holds_alternative<std::int64_t>(value.node().value) || std::holds_alternative<double>(value.node().value);
}

std::string text_of(const std::optional<Value>& value) {
  if (!value) return {};
  if (value->is_string()) return read<std::string>(*value);
  return is_number(*value) ? fmt::format("{}", read<double>(*value)) : std::string();
}

Seconds microseconds(const std::optional<Value>& value) {
  if (!value) return Seconds(0);
  const auto number = read<double>(*value);
  if (!(std::abs(number) <= most_microseconds)) value->fail("microseconds within 3000 years");
  return Seconds(number * 1e-6);
}

void read_arguments(const Value& value, ChromeEvent& event) {
  if (!value.is_object()) return;
  Section arguments(value);
  event.described = text_of(arguments.maybe("name"));
  event.shape = text_of(arguments.maybe("shape"));
  for (const char* key : {"External id", "external id"}) {
    const auto id = arguments.maybe(key);
    if (id && is_number(*id)) event.external_id = read<double>(*id);
  }
}

ChromeEvent read_event(const Value& value) {
  Section section(value);
  ChromeEvent event;
  event.place = value.place();
  const Value phase = section.child("ph");
  const auto letter = read<std::string>(phase);
  if (letter.size() != 1) phase.fail("a letter");
  event.phase = letter.front();
  event.name = text_of(section.maybe("name"));
  event.category = text_of(section.maybe("cat"));
  event.process = text_of(section.maybe("pid"));
  event.thread = text_of(section.maybe("tid"));
  event.start = microseconds(section.maybe("ts"));
  event.duration = microseconds(section.maybe("dur"));
  if (event.duration < Seconds(0)) section.child("dur").fail("a duration that is not negative");
  if (const auto arguments = section.maybe("args")) read_arguments(*arguments, event);
  return event;
}

}  // namespace

std::vector<ChromeEvent> read_chrome_events(std::string_view text, const std::string& file) {
  const Document document = Document::parse(closed(text), file);
  const Value root = document.root();
  const auto listed = root.is_object() ? document.find("/traceEvents") : std::optional(root);
  if (!listed || !listed->is_array())
    root.fail("a Chrome trace: an array of events, or an object with \"traceEvents\"");
  std::vector<ChromeEvent> events = mapped(listed->elements(), read_event);
  if (events.empty()) listed->fail("at least one event");
  return events;
}

}}  // namespace farandole::calibration
