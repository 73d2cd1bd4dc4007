// What must change nothing: order, names, units, which of equal nodes, who else stands idle, folding, sweeps, the
// locale.
#include <algorithm>
#include <cmath>
#include <locale>

#include <fmt/format.h>

#include "report/record.hpp"
#include "scenario/metamorphic_kit.hpp"
#include "units/format.hpp"

namespace farandole::test {
namespace {

class DecimalComma : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

/// For as long as it lives.
class ForeignLocale {
 public:
  ForeignLocale() : before_(std::locale::global(std::locale(std::locale::classic(), new DecimalComma))) {}
  ~ForeignLocale() { std::locale::global(before_); }
  ForeignLocale(const ForeignLocale&) = delete;
  ForeignLocale& operator=(const ForeignLocale&) = delete;

 private:
  std::locale before_;
};

Json reversed(const Json& json) {
  if (json.is_array()) {
    Json result = Json::array();
    for (const Json& element : json) result.push_back(reversed(element));
    return result;
  }
  if (!json.is_object()) return json;
  std::vector<std::pair<std::string, Json>> members;
  for (const auto& [key, value] : json.items()) members.emplace_back(key, reversed(value));
  Json result = Json::object();
  for (auto member = members.rbegin(); member != members.rend(); ++member) result[member->first] = member->second;
  return result;
}

template <class T>
std::optional<double> value_of(const std::string& text) {
  const Parsed<T> parsed = parse_quantity<T>(text);
  const T* quantity = std::get_if<T>(&parsed);
  return quantity == nullptr ? std::nullopt : std::optional(quantity->si());
}

std::optional<double> value_of(const std::string& text, Dimension dimension) {
  switch (dimension) {
    case Dimension::time:
      return value_of<Seconds>(text);
    case Dimension::rate:
      return value_of<BytesPerSecond>(text);
    case Dimension::size:
      return value_of<Bytes>(text);
    case Dimension::none:
      break;
  }
  return std::nullopt;
}

struct Unit {
  const char* name;
  double value;
};

std::vector<Unit> units_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::time:
      return {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    case Dimension::rate:
      return {{"B/s", 1}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"Gbit/s", 125e6}, {"Mbit/s", 125e3}, {"MiB/s", 1 << 20}};
    case Dimension::size:
      return {{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"kB", 1e3}, {"Mbit", 125e3}};
    case Dimension::none:
      break;
  }
  return {};
}

/// The same value, to the last bit, in another unit, where there is one; else as it is.
std::string in_another_unit(const std::string& text, Random& random) {
  const Dimension dimension = dimension_of(text);
  const std::optional<double> value = value_of(text, dimension);
  if (!value) return text;
  std::vector<std::string> others{text};
  for (const auto& [name, unit] : units_of(dimension)) {
    const std::string other = fmt::format("{:.15g} {}", *value / unit, name);
    if (value_of(other, dimension) == value) others.push_back(other);
  }
  return random.one_of(others);
}

bool write_in_other_units(Case& c, Random& random) {
  visit_texts(c.scenario, "", [&](const std::string&, Json& text) { text = in_another_unit(text, random); });
  return true;
}

bool reverse_keys(Case& c, Random&) {
  if (c.scenario.contains("sweep")) return false;  // the order of axes is the order of points
  c.scenario = reversed(c.scenario);
  return true;
}

bool rename_model(Case& c, Random&) {
  Json& model = c.scenario["workload"]["model"];
  if (model.get<std::string>().ends_with(".json")) return false;
  model = model_file(model, true);
  return true;
}

bool rename_nodes(Case& c, Random&) {
  if (c.topology()["/kind"] != "graph") return false;
  visit_texts(c.topology()["/network"], "", [](const std::string& key, Json& name) {
    if (key != "rate" && key != "latency") name = fmt::format("other-{}-name", name.get<std::string>());
  });
  return true;
}

/// All nodes of a star are alike, but where something is said of one by its number.
bool begin_at_another_node(Case& c, Random& random) {
  Json& topology = c.topology();
  if (topology["/kind"] != "star" || c.scenario.contains("effects") || c.scenario["platform"].contains("traffic"))
    return false;
  const int by = random.between(1, 3);
  topology["/nodes"] = topology["/nodes"].get<int>() + by;
  Json& placement = c.scenario["platform"]["placement"];
  if (placement.is_null()) placement = {{"nodes", "contiguous"}};
  placement["first_node"] = by + placement.value("first_node", 0);
  return true;
}

bool add_an_idle_host(Case& c, Random& random) {
  Json& topology = c.topology();
  if (topology["/kind"] == "graph") {
    Json& network = topology["/network"];
    const std::string idle = fmt::format("idle{}", network["hosts"].size());
    network["hosts"].push_back(idle);
    network["links"].push_back(
        {{"from", idle}, {"to", network["switches"][0]["name"]}, {"link", {{"rate", "10 Gbit/s"}}}});
    topology["/nodes"] = topology["/nodes"].get<int>() + 1;
    return true;
  }
  if (topology["/kind"] != "star") return false;
  topology["/nodes"] = topology["/nodes"].get<int>() + random.between(1, 5);
  return true;
}

bool unfold(Case& c, Random&) {
  const bool was_folded = c.folding != FoldingPolicy::never;
  c.folding = FoldingPolicy::never;
  return was_folded;
}

/// One of its points has the value that it has by itself.
bool make_a_point_of_a_sweep(Case& c, Random& random) {
  if (c.scenario.contains("sweep")) return false;
  const bool is_last = random.chance(50);
  Json& sweep = c.scenario["sweep"];
  const auto add_axis = [&](const char* pointer, const Json& own, const Json& other) {
    sweep[pointer] = is_last ? Json{other, own} : Json{own, other};
  };
  const int batch = c.scenario["workload"]["batch_per_rank"];
  add_axis("/workload/batch_per_rank", batch, batch + 3);
  if (random.chance(50)) add_axis("/measure/seed", c.scenario["measure"]["seed"], 77777);
  c.point = is_last ? (std::size_t{1} << sweep.size()) - 1 : 0;
  return true;
}

bool speak_another_language(Case& c, Random&) {
  c.foreign_locale = true;
  return true;
}

/// Whether anything is drawn at random while it runs.
bool is_random(const Case& c) {
  return c.has("jitter\": \"1") || c.has("step_jitter\":\"1") || c.has("device_spread\":\"2") || c.has("variation") ||
         c.has("os_noise") || c.has("random") || c.has("valiant") || c.has("adaptive") || c.has("ecmp");
}

/// Horovod's first cycle begins at a moment of the seed's choice (training/strategies/horovod_negotiation.cpp).
bool change_the_seed(Case& c, Random& random) {
  if (is_random(c) || c.strategy() == "horovod" || c.has("on_off")) return false;
  if (c.scenario.contains("sweep")) return false;
  c.scenario["measure"]["seed"] = random.between(2000, 3000);
  return true;
}

const std::vector<Invariance> all_invariances{
    {"units", write_in_other_units},
    {"order of keys", reverse_keys},
    {"names of layers", rename_model, {"/model"}},
    {"names of nodes", rename_nodes},
    {"which of equal nodes", begin_at_another_node},
    {"idle host", add_an_idle_host},
    {"unfolded", unfold, {"/folded"}, 1e-9},
    {"point of a sweep", make_a_point_of_a_sweep, {"/swept"}},
    {"locale", speak_another_language},
    {"seed", change_the_seed},
};

bool is_of(const std::string& pointer, const std::vector<std::string>& all_of) {
  return std::ranges::any_of(all_of, [&](const std::string& beginning) { return pointer.starts_with(beginning); });
}

bool is_a_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string::npos;
}

}  // namespace

std::span<const Invariance> invariances() {
  return all_invariances;
}

TrainingPoint run(const Case& of_case, bool explain) {
  std::optional<ForeignLocale> foreign;
  if (of_case.foreign_locale) foreign.emplace();
  RunOptions options;
  options.folding = of_case.folding;
  options.explain = explain;
  static const Catalogue catalogue;
  const RunPlan plan = plan_run(Document::parse(of_case.scenario.dump(), "drawn.json"), catalogue, options);
  return run_point(plan.points.at(of_case.point), catalogue, nullptr);
}

void visit_texts(Json& json, const std::string& key, const std::function<void(const std::string&, Json&)>& visit) {
  if (json.is_string()) return visit(key, json);
  if (json.is_array()) {
    for (Json& element : json) visit_texts(element, key, visit);
  }
  if (!json.is_object()) return;
  for (auto& [name, value] : json.items()) visit_texts(value, name, visit);
}

Dimension dimension_of(const std::string& text) {
  const auto space = text.find(' ');
  if (space == std::string::npos || !is_a_number(text.substr(0, space))) return Dimension::none;
  if (value_of<Seconds>(text)) return Dimension::time;
  if (value_of<BytesPerSecond>(text)) return Dimension::rate;
  return value_of<Bytes>(text) ? Dimension::size : Dimension::none;
}

std::string scaled(const std::string& quantity, double factor) {
  const Dimension dimension = dimension_of(quantity);
  const char* unit = dimension == Dimension::time ? "s" : dimension == Dimension::rate ? "B/s" : "B";
  return fmt::format("{:.17g} {}", value_of(quantity, dimension).value() * factor, unit);
}

void scale_all(Json& json, Dimension dimension, double factor) {
  visit_texts(json, "", [&](const std::string&, Json& text) {
    if (dimension_of(text) == dimension) text = scaled(text, factor);
  });
}

std::string difference(const TrainingPoint& one, const TrainingPoint& other, const std::vector<std::string>& but,
                       double rounding) {
  const Record first = to_record(one).flatten();
  const Record second = to_record(other).flatten();
  std::string result;
  for (const auto& [pointer, value] : first.items()) {
    if (is_of(pointer, but)) continue;
    const bool is_there = second.contains(pointer);
    if (is_there && value == second[pointer]) continue;
    if (is_there && value.is_number() && second[pointer].is_number()) {
      const double a = value.get<double>();
      const double b = second[pointer].get<double>();
      const bool is_time = pointer.starts_with("/breakdown") || pointer.starts_with("/exposed");
      const double scale = std::max({std::abs(a), std::abs(b), is_time ? one.iteration.si() : 0});
      if (std::abs(a - b) <= rounding * scale) continue;
    }
    result += fmt::format("    {}: {} -> {}\n", pointer, value.dump(), is_there ? second[pointer].dump() : "nothing");
  }
  for (const auto& [pointer, value] : second.items()) {
    if (!is_of(pointer, but) && !first.contains(pointer))
      result += fmt::format("    {}: nothing -> {}\n", pointer, value.dump());
  }
  return result;
}

}  // namespace farandole::test
