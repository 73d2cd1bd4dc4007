#include "platform/condition.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "config/listed_members.hpp"
#include "platform/detours.hpp"
#include "platform/sections.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace platform {
namespace {

/// Members whose keys are patterns; what is allowed in every object is none.
template <class T>
std::vector<std::pair<std::string, T>> read_patterns(const Value& value, T (*read_one)(const Value&)) {
  std::vector<std::pair<std::string, T>> patterns;
  for (const auto& [pattern, member] : listed_members(value)) {
    if (pattern == "source") {
      (void)read<std::string>(member);
    } else {
      patterns.emplace_back(pattern, read_one(member));
    }
  }
  return patterns;
}

double read_rest(const Value& value) {
  const double rest = read<Fraction>(value).value;
  if (!(rest > 0) || rest > 1) value.fail("what is left of the rate, above 0 % and up to 100 %");
  return rest;
}

std::shared_ptr<const CongestionCurve> read_curve(const Value& value) {
  std::vector<CongestionCurve::Point> points;
  double flows = 1;
  double left = 1;
  for (const Value& element : value.elements()) {
    Section section = sourced(element);
    const Value flows_value = section.child("flows");
    const Value left_value = section.child("left");
    section.finish();
    const CongestionCurve::Point point{static_cast<double>(read_at_least(flows_value, 2)), read_rest(left_value)};
    if (point.flows <= flows) flows_value.fail("more flows than in the point before");
    if (point.left > left) left_value.fail("no more than is left of fewer flows");
    flows = point.flows;
    left = point.left;
    points.push_back(point);
  }
  if (points.empty()) value.fail("at least one point, such as {\"flows\": 8, \"left\": \"80 %\"}");
  return std::make_shared<const CongestionCurve>(std::move(points));
}

bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() != '*') {
    return !text.empty() && pattern.front() == text.front() && matches(pattern.substr(1), text.substr(1));
  }
  const std::string_view rest = pattern.substr(1);
  for (std::size_t skipped = 0; skipped <= text.size(); ++skipped) {
    if (matches(rest, text.substr(skipped))) return true;
  }
  return false;
}

[[noreturn]] void fail_unmatched(const Value& where, const std::string& what, const std::string& pattern) {
  where.fail(fmt::format("{} that \"{}\" of a \"condition\" names", what, pattern), "none");
}

/// Calls `change` for every link that the pattern names.
template <class Change>
void change_links(const std::string& pattern, Platform& platform, const Value& where, Change change) {
  bool found = false;
  for (Link& link : platform.links) {
    if (!is_named_by(pattern, link.name)) continue;
    found = true;
    change(link);
  }
  if (!found) fail_unmatched(where, "a link", pattern);
}

/// The numbers of the cables that have failed, in order.
std::vector<int> failed_cables(const Condition& condition, const Platform& platform, const Value& where) {
  std::vector<int> failed;
  for (const std::string& pattern : condition.failed) {
    const std::size_t before = failed.size();
    for (std::size_t cable = 0; cable < platform.network.cables.size(); ++cable) {
      const int there = platform.network.cables[cable].there;
      if (is_named_by(pattern, platform.links[static_cast<std::size_t>(there)].name)) {
        failed.push_back(static_cast<int>(cable));
      }
    }
    if (failed.size() == before) fail_unmatched(where, "a cable between switches", pattern);
  }
  std::ranges::sort(failed);
  failed.erase(std::unique(failed.begin(), failed.end()), failed.end());
  return failed;
}

}  // namespace

Condition read_condition(const Value& value) {
  Section section = sourced(value);
  Condition condition;
  if (const auto degraded = section.maybe("degraded")) condition.degraded = read_patterns(*degraded, read_rest);
  if (const auto background = section.maybe("background")) {
    condition.background = read_patterns(*background, read<BytesPerSecond>);
  }
  if (const auto congestion = section.maybe("congestion")) {
    condition.congestion = read_patterns(*congestion, read_curve);
  }
  condition.failed = section.optional<std::vector<std::string>>("failed", {});
  section.finish();
  return condition;
}

void Condition::add(const Condition& other) {
  degraded.insert(degraded.end(), other.degraded.begin(), other.degraded.end());
  background.insert(background.end(), other.background.begin(), other.background.end());
  congestion.insert(congestion.end(), other.congestion.begin(), other.congestion.end());
  failed.insert(failed.end(), other.failed.begin(), other.failed.end());
}

bool is_named_by(std::string_view pattern, const std::string& link) {
  const std::string_view name = link;
  if (matches(pattern, name)) return true;
  for (auto slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1)) {
    if (matches(pattern, name.substr(0, slash))) return true;
  }
  return false;
}

void apply(const Condition& condition, Platform& platform, const Value& where) {
  for (const auto& [pattern, rest] : condition.degraded) {
    change_links(pattern, platform, where, [rest = rest](Link& link) { link.capacity *= rest; });
  }
  for (const auto& [pattern, rate] : condition.background) {
    change_links(pattern, platform, where, [&, rate = rate](Link& link) {
      if (rate >= link.capacity) {
        where.fail(fmt::format("less background than the {} of {}", format(link.capacity), link.name), format(rate));
      }
      link.capacity -= rate;
    });
  }
  for (const auto& [pattern, curve] : condition.congestion) {
    change_links(pattern, platform, where, [&curve = curve](Link& link) { link.congestion = curve; });
  }
  const std::vector<int> failed = failed_cables(condition, platform, where);
  if (!failed.empty()) go_round(failed, platform, where);
  add_up_bundles(platform);
  const bool is_as_built = condition.degraded.empty() && condition.background.empty() && failed.empty();
  if (!is_as_built) platform.network.bisection = nullptr;  // the formula of the kind knows nothing of this
}

}}  // namespace farandole::platform
