#include "study/search.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "config/modules.hpp"
#include "report/record.hpp"
#include "scenario/anchor.hpp"
#include "scenario/effective_settings.hpp"
#include "scenario/fit_memory.hpp"
#include "scenario/sweep.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace study {
namespace {

using Objective = std::function<double(const std::vector<double>&)>;
using ModuleSearch = void (*)(std::size_t, int, const Objective&);

ModuleFunction search_function() {
  return module_function("nlopt", "farandole_nlopt_search");
}

void global_search(std::size_t dimensions, int evaluations, const Objective& f) {
  const ModuleFunction search = search_function();
  if (search.address == nullptr) throw std::logic_error("a global search without NLopt");
  reinterpret_cast<ModuleSearch>(search.address)(dimensions, evaluations, f);
}

/// A whole number, a number, or a text with a unit.
nlohmann::ordered_json as_written(const OpenRange& range, const std::string& text) {
  if (range.is_whole) return std::stoll(text);
  return range.unit.empty() ? nlohmann::ordered_json(std::stod(text)) : nlohmann::ordered_json(text);
}

SweptValue choice_of(const Setting& setting) {
  if (setting.assignments.size() != 1) return {"variant", setting.name};
  const Assignment& only = setting.assignments.front();
  const nlohmann::json value = to_json(only.value);
  return {only.pointer, value.is_string() ? value.get<std::string>() : value.dump()};
}

/// Of every configuration that expand_sweep makes of these axes, in its order.
std::vector<std::vector<SweptValue>> choices_of(const Value& over) {
  std::vector<std::vector<SweptValue>> all{{}};
  for (const Axis& axis : read_axes(over)) {
    std::vector<std::vector<SweptValue>> next;
    for (const std::vector<SweptValue>& partial : all) {
      for (const Setting& setting : axis) {
        next.push_back(partial);
        next.back().push_back(choice_of(setting));
      }
    }
    all = std::move(next);
  }
  return all;
}

class Search {
 public:
  Search(const Document& document, const SearchSpec& spec, const Catalogue& catalogue, const RunOptions& options,
         const RunAll& run)
      : spec_(spec),
        catalogue_(catalogue),
        options_(options),
        run_(run),
        bare_(anchored(document.without("optimise"), catalogue)) {
    over_ = document.find("/optimise/over")->node();
    refuse_what_is_swept(bare_, Value(over_, "/optimise/over"));
  }

  SearchResult result() {
    if (spec_.method == "grid") run_grid();
    if (spec_.method == "first") run_until_first();
    if (spec_.method == "golden_section") run_golden_section();
    if (spec_.method == "global") run_global();
    if (result_.points.empty() && refusal_) throw *refusal_;
    result_.too_large = too_large_;
    return std::move(result_);
  }

 private:
  using Shares = std::vector<double>;  // of the way along each open range

  /// Points that fit into memory, and their choices; of the others how many there are.
  struct Planned {
    RunPlan plan;
    std::vector<std::vector<SweptValue>> choices;
  };

  Planned plan_of(const Node& sweep, const std::vector<std::vector<SweptValue>>& choices) {
    Document document = bare_;
    document.set("/sweep", sweep);
    Planned planned;
    std::vector<std::size_t> left_out;
    try {
      planned.plan = plan_what_fits(document, catalogue_, options_, left_out);
    } catch (const DoesNotFit& refusal) {
      if (!refusal_) refusal_ = refusal;
      too_large_ += static_cast<int>(choices.size());
      return planned;
    }
    too_large_ += static_cast<int>(left_out.size());
    const std::size_t fidelities = std::max<std::size_t>(1, options_.fidelities.size());
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const bool fits = !std::ranges::binary_search(left_out, i);
      if (fits) planned.choices.insert(planned.choices.end(), fidelities, choices[i]);
    }
    return planned;
  }

  static void add_once(std::vector<std::string>& all, const std::string& text) {
    if (std::ranges::find(all, text) == all.end()) all.push_back(text);
  }

  /// Runs them and keeps what they gave.
  void take(const RunPlan& plan, std::vector<std::vector<SweptValue>> choices) {
    std::vector<TrainingPoint> points = run_(plan);
    merge_settings(result_.plan.settings, plan.settings);
    if (result_.points.empty()) result_.plan.scenario = plan.scenario;
    if (result_.points.empty()) result_.plan.ignored = plan.ignored;
    for (const std::string& note : plan.notes) add_once(result_.plan.notes, note);
    for (TrainingPoint& point : points) result_.points.push_back(std::move(point));
    result_.plan.points.insert(result_.plan.points.end(), plan.points.begin(), plan.points.end());
    std::ranges::move(choices, std::back_inserter(result_.choices));
  }

  void run_grid() {
    Planned all = plan_of(over_, choices_of(Value(over_, "/optimise/over")));
    if (!all.choices.empty()) take(all.plan, std::move(all.choices));
  }

  void run_until_first() {
    const Planned planned = plan_of(over_, choices_of(Value(over_, "/optimise/over")));
    const RunPlan& all = planned.plan;
    std::vector<std::size_t> order(all.points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const bool by_nodes = spec_.goal.metric->name == "nodes";
    std::ranges::stable_sort(order, {},
                             [&](std::size_t i) { return by_nodes ? all.points[i].nodes : all.points[i].ranks; });
    for (const std::size_t i : order) {
      RunPlan one = all;
      one.points = {all.points[i]};
      take(one, {planned.choices[i]});
      if (spec_.goal.violation(result_.points.back()) == 0) return;
    }
  }

  /// What golden section and DIRECT make small: the goal relative to the first point's, and more for broken bounds.
  double loss_at(const Shares& shares) {
    nlohmann::ordered_json sweep;
    std::vector<SweptValue> choices;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const OpenRange& range = spec_.ranges[i];
      const std::string text = range.at(shares[i]);
      choices.push_back({range.pointer, text});
      sweep[range.pointer] = nlohmann::ordered_json::array({as_written(range, text)});
    }
    const auto [known, is_new] = known_.emplace(sweep.dump(), result_.points.size());
    if (is_new) {
      const Document written = Document::parse(sweep.dump(), "optimise");
      Planned planned = plan_of(written.root().node(), {std::move(choices)});
      if (planned.choices.empty()) known->second = none;
      if (!planned.choices.empty()) take(planned.plan, std::move(planned.choices));
    }
    constexpr double price_of_breaking_a_bound = 10;
    constexpr double price_of_not_fitting = 1000;
    if (known->second == none) return price_of_not_fitting;
    const TrainingPoint& point = result_.points[known->second];
    if (scale_ == 0) scale_ = std::max(std::abs(spec_.goal.loss(point)), 1e-300);
    return spec_.goal.loss(point) / scale_ + price_of_breaking_a_bound * spec_.goal.violation(point);
  }

  [[nodiscard]] bool may_go_on() const { return known_.size() < static_cast<std::size_t>(spec_.evaluations); }

  /// One range after the other, the others as they are, until a round has brought less than a thousandth.
  void run_golden_section() {
    Shares at(spec_.ranges.size(), 0.5);
    double before = loss_at(at);
    while (may_go_on()) {
      for (std::size_t i = 0; i < at.size() && may_go_on(); ++i) improve(at, i);
      const double now = loss_at(at);
      if (at.size() == 1 || before - now < 1e-3 * std::abs(before)) return;
      before = now;
    }
  }

  void improve(Shares& at, std::size_t i) {
    constexpr double tolerance = 0.02;
    const double kept = loss_at(at);
    const auto along = [&](double share) {
      Shares tried = at;
      tried[i] = share;
      return may_go_on() ? loss_at(tried) : std::numeric_limits<double>::infinity();
    };
    const double best = golden_section(along, 0, 1, tolerance);
    if (along(best) < kept) at[i] = best;
  }

  void run_global() {
    global_search(spec_.ranges.size(), spec_.evaluations, [this](const Shares& shares) { return loss_at(shares); });
  }

  const SearchSpec& spec_;
  const Catalogue& catalogue_;
  const RunOptions& options_;
  const RunAll& run_;
  Document bare_;
  Node over_;
  std::map<std::string, std::size_t> known_;
  static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  double scale_ = 0;
  int too_large_ = 0;
  std::optional<DoesNotFit> refusal_;  // the first
  SearchResult result_;
};

std::string goal_text(const Goal& goal) {
  const auto bounds = mapped(goal.bounds, &Bound::text);
  return fmt::format("{} {}{}{}", goal.is_least ? "least" : "most", goal.metric->name, bounds.empty() ? "" : " with ",
                     fmt::join(bounds, " and "));
}

bool is_nearly_as_good(const Goal& goal, const TrainingPoint& point, const TrainingPoint& best, double tolerance) {
  const double loss = goal.loss(best);
  return goal.violation(point) == 0 && goal.loss(point) <= loss + std::abs(loss) * tolerance;
}

/// What leads a value such as "16 MiB".
double number_of(const std::string& text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<NearlyAsGood> flat_part(const SearchSpec& spec, const SearchResult& result) {
  std::vector<NearlyAsGood> flat;
  const TrainingPoint& best = result.points[result.optimum.point];
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    if (!is_nearly_as_good(spec.goal, result.points[i], best, result.optimum.tolerance)) continue;
    for (const auto& [pointer, value] : result.choices[i]) {
      auto part = std::ranges::find(flat, pointer, &NearlyAsGood::pointer);
      if (part == flat.end()) part = flat.insert(flat.end(), NearlyAsGood{pointer, {}});
      if (std::ranges::find(part->values, value) == part->values.end()) part->values.push_back(value);
    }
  }
  for (NearlyAsGood& part : flat) {
    if (spec.ranges.empty()) continue;
    const auto [low, high] = std::ranges::minmax_element(part.values, {}, number_of);
    part.values = {*low, *high};
  }
  return flat;
}

Optimum optimum_of(const SearchSpec& spec, const SearchResult& result) {
  Optimum optimum;
  optimum.goal = goal_text(spec.goal);
  optimum.method = spec.method;
  optimum.points_run = static_cast<int>(result.points.size());
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    if (spec.goal.violation(result.points[i]) == 0) ++optimum.feasible;
    if (spec.goal.is_better(result.points[i], result.points[optimum.point])) optimum.point = i;
  }
  optimum.value = spec.goal.metric->of(result.points[optimum.point]);
  optimum.at = result.choices[optimum.point];
  return optimum;
}

std::string at_text(const std::vector<SweptValue>& at) {
  const auto parts =
      mapped(at, [](const SweptValue& choice) { return fmt::format("{} {}", choice.pointer, choice.value); });
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string flat_text(const SearchSpec& spec, const Optimum& optimum) {
  std::vector<std::string> parts;
  for (const NearlyAsGood& part : optimum.flat) {
    if (part.values.size() < 2 || part.values.front() == part.values.back()) continue;
    parts.push_back(fmt::format("{} {}", part.pointer, fmt::join(part.values, spec.ranges.empty() ? ", " : " to ")));
  }
  if (parts.empty()) return "; no other of them comes within 1 %.";
  return fmt::format("; within 1 % of it: {}.", fmt::join(parts, ", "));
}

std::string sentence(const SearchSpec& spec, const SearchResult& result) {
  const Optimum& optimum = result.optimum;
  const std::string value = spec.goal.metric->text(optimum.value);
  const std::string others =
      result.too_large > 0 ? fmt::format(" {} more do not fit into memory.", result.too_large) : "";
  if (optimum.feasible == 0) {
    return fmt::format("None of {} points has {}; nearest to it: {}, with {} {}.{}", optimum.points_run,
                       optimum.goal.substr(optimum.goal.find(" with ") + 6), at_text(optimum.at),
                       spec.goal.metric->name, value, others);
  }
  return fmt::format("The {}: {}, {}. {} points were run{}{}", optimum.goal, value, at_text(optimum.at),
                     optimum.points_run, flat_text(spec, optimum), others);
}

}  // namespace

SearchResult search(const Document& document, const SearchSpec& spec, const Catalogue& catalogue,
                    const RunOptions& options, const RunAll& run) {
  SearchResult result = Search(document, spec, catalogue, options, run).result();
  judge(spec, result);
  return result;
}

double golden_section(const std::function<double(double)>& f, double low, double high, double tolerance) {
  struct Seen {
    double x;
    double value;
  };
  constexpr double share = 1 / std::numbers::phi;
  const auto see = [&](double x) { return Seen{x, f(x)}; };
  Seen first = see(low);
  Seen last = see(high);
  Seen left = see(high - share * (high - low));
  Seen right = see(low + share * (high - low));
  while (last.x - first.x > tolerance) {
    if (left.value <= right.value) {
      last = right;
      right = left;
      left = see(last.x - share * (last.x - first.x));
    } else {
      first = left;
      left = right;
      right = see(first.x + share * (last.x - first.x));
    }
  }
  const std::array seen{first, left, right, last};
  return std::ranges::min_element(seen, {}, &Seen::value)->x;
}

std::string why_no_global_search() {
  return search_function().missing;
}

void judge(const SearchSpec& spec, SearchResult& result) {
  result.optimum = optimum_of(spec, result);
  if (result.optimum.feasible > 0) result.optimum.flat = flat_part(spec, result);
  result.answer = sentence(spec, result);
}

}}  // namespace farandole::study
