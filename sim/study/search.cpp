#include "study/search.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include <nlohmann/json.hpp>

#include "report/record.hpp"
#include "scenario/anchor.hpp"
#include "scenario/effective_settings.hpp"
#include "scenario/fit_memory.hpp"
#include "scenario/sweep.hpp"

namespace farandole { inline namespace study {
namespace {

/// A whole number, a number, or a text with a unit.
nlohmann::ordered_json as_written(const OpenRange& range, const std::string& text) {
  if (range.is_whole) return std::stoll(text);
  return range.unit.empty() ? nlohmann::ordered_json(std::stod(text)) : nlohmann::ordered_json(text);
}

Choice choice_of(const Setting& setting) {
  if (setting.assignments.size() != 1) return {"variant", setting.name};
  const Assignment& only = setting.assignments.front();
  const nlohmann::json value = to_json(only.value);
  return {only.pointer, value.is_string() ? value.get<std::string>() : value.dump()};
}

/// Of every configuration that expand_sweep makes of these axes, in its order.
std::vector<std::vector<Choice>> choices_of(const Value& over) {
  std::vector<std::vector<Choice>> all{{}};
  for (const Axis& axis : read_axes(over)) {
    std::vector<std::vector<Choice>> next;
    for (const std::vector<Choice>& partial : all) {
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
    std::vector<std::vector<Choice>> choices;
  };

  Planned plan_of(const Node& sweep, const std::vector<std::vector<Choice>>& choices) {
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
  void take(const RunPlan& plan, std::vector<std::vector<Choice>> choices) {
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
    std::vector<Choice> choices;
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

}  // namespace

SearchResult search(const Document& document, const SearchSpec& spec, const Catalogue& catalogue,
                    const RunOptions& options, const RunAll& run) {
  SearchResult result = Search(document, spec, catalogue, options, run).result();
  judge(spec, result);
  return result;
}

}}  // namespace farandole::study
