#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "calibration/posterior.hpp"
#include "config/section.hpp"
#include "units/format.hpp"

namespace farandole { inline namespace calibration {
namespace {

constexpr std::array of_topologies{"/node", "/network", "/condition", "/transport", "/variability"};
constexpr std::array of_scenarios{"/strategy", "/effects"};

bool is_within_any(const std::string& pointer, auto& parts) {
  return std::ranges::any_of(parts, [&](const std::string part) { return pointer.starts_with(part + "/"); });
}

/// Which quantity a text is, and how much; nothing where it is none.
std::optional<std::pair<ParameterKind, double>> quantity(const std::string& text) {
  if (const auto time = parse_quantity<Seconds>(text); const auto* value = std::get_if<Seconds>(&time))
    return std::pair(ParameterKind::time, value->si());
  if (const auto rate = parse_quantity<BytesPerSecond>(text); const auto* value = std::get_if<BytesPerSecond>(&rate))
    return std::pair(ParameterKind::time_per_byte, 1 / value->si());
  if (const auto size = parse_quantity<Bytes>(text); const auto* value = std::get_if<Bytes>(&size))
    return std::pair(ParameterKind::size, value->si());
  if (const auto share = parse_fraction(text); const auto* value = std::get_if<double>(&share))
    return std::pair(ParameterKind::share, *value);
  return std::nullopt;
}

std::pair<ParameterKind, double> end_of(const Value& where) {
  const auto found = quantity(read<std::string>(where));
  if (!found || !(found->second > 0) || !std::isfinite(found->second))
    where.fail("a time, a rate, a size or a share above zero");
  return *found;
}

std::string name_of(const std::string& pointer, const std::vector<Parameter>& known) {
  const auto same = std::ranges::find(known, pointer, &Parameter::pointer);
  if (same != known.end()) return same->name;
  std::string name = pointer.substr(pointer.rfind('/') + 1);
  std::ranges::replace(name, '_', ' ');
  return name;
}

Unknown between_ends(const std::string& pointer, const Value& low, const Value& high, std::string source,
                     const std::vector<Parameter>& known) {
  if (!is_within_any(pointer, of_topologies) && !is_within_any(pointer, of_scenarios))
    low.fail("a prior of a number below /node, /network, /condition, /transport, /variability, /strategy or /effects",
             quoted(pointer));
  const auto [kind, from] = end_of(low);
  const auto [other, to] = end_of(high);
  const bool is_rising = kind == ParameterKind::time_per_byte ? to < from : from < to;
  if (kind != other || !is_rising) high.fail("the same quantity, and more of it, as the other end of the 80 %");
  return {{name_of(pointer, known), pointer, kind},
          (std::log(from) + std::log(to)) / 2,
          std::abs(std::log(to / from)) / 2 / to_ninth_decile,
          std::move(source)};
}

Unknown in_file(const std::string& pointer, const Value& where, const std::vector<Parameter>& known) {
  Section section(where);
  const Value ends = section.child("between");
  const auto both = ends.elements();
  if (both.size() != 2) ends.fail("two ends, between which the number lies eight times in ten");
  Unknown unknown = between_ends(pointer, both[0], both[1], section.required<std::string>("source"), known);
  section.finish();
  return unknown;
}

/// "/node/nic/host_rate=3 GB/s..15 GB/s"
Unknown from_option(const std::string& text, const std::vector<Parameter>& known) {
  const auto source = std::make_shared<const std::string>("farandole");
  const Node whole{text, 0, source};
  const auto equals = text.find('=');
  const auto dots = text.find("..", equals == std::string::npos ? 0 : equals);
  if (equals == std::string::npos || dots == std::string::npos)
    Value(whole, "--prior").fail("/POINTER=LOW..HIGH, as \"/node/nic/host_rate=3 GB/s..15 GB/s\"");
  const Node low{text.substr(equals + 1, dots - equals - 1), 0, source};
  const Node high{text.substr(dots + 2), 0, source};
  return between_ends(text.substr(0, equals), Value(low, "--prior"), Value(high, "--prior"), "the command line", known);
}

void put_unknown(std::vector<Unknown>& unknowns, Unknown added) {
  const auto same = std::ranges::find(unknowns, added.parameter.pointer,
                                      [](const Unknown& unknown) { return unknown.parameter.pointer; });
  (same == unknowns.end() ? unknowns.emplace_back() : *same) = std::move(added);
}

/// What tables settle too, and what only runs show.
std::vector<Parameter> known_of(const Document& topology) {
  std::vector<Parameter> known = parameters_of(topology);
  known.push_back({"device spread", "/variability/device_spread", ParameterKind::share});
  known.push_back({"step jitter", "/variability/step_jitter", ParameterKind::share});
  known.push_back({"latency of a small message between hosts", "/transport/control_latency", ParameterKind::time});
  return known;
}

}  // namespace

bool is_of_scenario(const Parameter& parameter) {
  return is_within_any(parameter.pointer, of_scenarios);
}

std::vector<Unknown> unknowns_of(const Document& topology, std::span<const std::string> options) {
  const std::vector<Parameter> known = known_of(topology);
  std::vector<Unknown> unknowns;
  for (const Parameter& parameter : known) {
    const double value = value_in(topology, parameter);
    if (!(value > 0) || !std::isfinite(value)) continue;  // nothing that a factor could change
    unknowns.push_back({parameter, std::log(value), std::log(default_factor) / to_ninth_decile,
                        fmt::format("the file's value, by default within a factor of {:g}", default_factor)});
  }
  if (const auto priors = topology.find("/priors")) {
    for (const auto& [pointer, where] : priors->members()) {
      if (pointer != "comment") put_unknown(unknowns, in_file(pointer, where, known));
    }
  }
  for (const std::string& text : options) put_unknown(unknowns, from_option(text, known));
  return unknowns;
}

Document with(const Document& topology, std::span<const Unknown> unknowns, const Eigen::VectorXd& logs) {
  Document changed = topology;
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    if (is_of_scenario(unknowns[j].parameter)) continue;
    changed = with(changed, unknowns[j].parameter, std::exp(logs[static_cast<Eigen::Index>(j)]));
  }
  return changed;
}

std::string between(const Parameter& parameter, double low, double high) {
  const bool is_rate = parameter.kind == ParameterKind::time_per_byte;
  return fmt::format("{} .. {}", shown(parameter, std::exp(is_rate ? high : low)),
                     shown(parameter, std::exp(is_rate ? low : high)));
}

}}  // namespace farandole::calibration
