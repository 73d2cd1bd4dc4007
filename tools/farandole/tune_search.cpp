#include "tune_search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <thread>

#include <sys/resource.h>

#include "question_answer.hpp"
#include "scenario/anchor.hpp"
#include "scenario/fit_memory.hpp"
#include "scenario/train.hpp"
#include "study/study.hpp"

namespace farandole {
namespace {

constexpr double worth_a_change = 1e-3;  // of a step
constexpr double less_memory = 0.05;
constexpr double less_of_device = 0.01;
constexpr double worth_memory = 0.01;  // of a step, where it takes more memory
constexpr int rounds = 2;
/// A run of a search with its process takes up to so many times what cost_of says: DDP and Horovod on 512 to 4,096
/// ranks of eos.
constexpr double times_the_estimate = 6;
constexpr double least_of_the_estimate = 0.05;
constexpr double runs_of_a_row = 3;  // with bands
constexpr double runs_of_a_waterfall = 10;
constexpr double share_of_the_search = 0.7;  // of the budget; the rest is for what is printed
constexpr std::size_t most_rows = 6;
constexpr std::array memory_shares{1.0, 0.75, 0.5};  // of what the scenario takes

using Choices = std::vector<TuneChoice>;

int changes_of(const TuneChoice& choice) {
  return static_cast<int>(std::ranges::count_if(choice, [](int value) { return value >= 0; }));
}

class TuneSearch {
 public:
  TuneSearch(const Document& document, const Catalogue& catalogue, const CostOptions& cost)
      : catalogue_(catalogue), budget_(cost.most()), longest_(cost.longest_point()) {
    if (const auto search = document.find("/optimise")) search->fail("a scenario without a search of its own");
    Configuration last = expand_sweep(anchored(document, catalogue)).back();
    last.document.remove("/question");
    RunOptions options;
    options.budget = budget_;
    options.network = cost.solver();
    options.bands = false;
    plan_ = plan_run(last.document, catalogue, options);
    const Scenario scenario = read_point(plan_.points.front(), catalogue).scenario;
    found_.configuration = take_few_iterations(last.document, scenario.measure);
    put_pasted_in_own_words(last.document, scenario);
    if (!found_.configuration.empty()) plan_ = plan_run(last.document, catalogue, options);
    own_ = std::make_shared<PlannedPoint>(read_point(plan_.points.front(), catalogue));
    own_->pointers = last.pointers;
    own_->scenario.explain = false;
  }

  TuneFound find() {
    TrainingPoint point = train(own_->scenario, nullptr);
    found_.settings = tune_settings(base_of(point));
    for (std::string& note : tune_notes(base_of(point))) found_.notes.push_back(std::move(note));
    found_.notes.insert(found_.notes.end(), plan_.notes.begin(), plan_.notes.end());
    found_.samples_per_step = own_->scenario.samples_per_step();
    found_.most_memory = std::max(point.memory.device - point.memory.outside, point.memory.total());
    spent_ = time_of(own_->scenario);
    found_.tried[found_.as_it_stands()] = {TuneOutcome::ran, point, {}};
    constexpr double all_memory = std::numeric_limits<double>::infinity();
    try_single();
    descend(all_memory);
    try_pairs(found_.as_it_stands());
    TuneChoice best = descend(all_memory);
    for (TuneChoice before; before != best && !found_.is_cut_short;) {  // what only two at once get out of
      before = best;
      try_pairs(best);
      best = descend(all_memory);
    }
    for (const double share : memory_shares) descend(share * point.memory.total().si());
    std::vector<TuneChoice> rows = best_choices();
    std::vector<TuneChoice> others = number_choices(rows.empty() ? found_.as_it_stands() : rows.front());
    judge(std::move(rows), std::move(others));
    return std::move(found_);
  }

 private:
  /// Of files, and of what has no keys for what is tried; DeepSpeed's keys are set where they are.
  void put_pasted_in_own_words(Document& document, const Scenario& scenario) {
    const auto deepspeed = document.find("/strategy/deepspeed");
    const bool is_pasted = (deepspeed && !deepspeed->is_object()) || document.find("/strategy/accelerate") ||
                           document.find("/strategy/llm_foundry");
    if (!is_pasted) return;
    const Node own = unpasted_strategy(*document.find("/strategy"), scenario, catalogue_);
    found_.configuration.push_back({"/strategy", to_json(own).dump()});
    document.set("/strategy", found_.configuration.back().json);
    found_.notes.push_back(
        "the strategy is what its pasted configuration says, in words of its own (\"all\" among the options)");
  }

  [[nodiscard]] WhatIfBase base_of(const TrainingPoint& point) const {
    return {{own_->document, own_->pointers, catalogue_}, own_->scenario, point};
  }
  [[nodiscard]] const TrainingPoint& own_point() const { return found_.tried.at(found_.as_it_stands()).point; }

  // ---- running

  [[nodiscard]] std::vector<SetValue> values_of(const TuneChoice& choice) const {
    std::vector<SetValue> values;
    for (std::size_t setting = 0; setting < choice.size(); ++setting) {
      if (choice[setting] < 0) continue;
      const TuneValue& value = found_.settings[setting].values[static_cast<std::size_t>(choice[setting])];
      values.insert(values.end(), value.set.begin(), value.set.end());
    }
    return values;
  }

  /// Nothing where it cannot be: then `tried` says why.
  std::shared_ptr<PlannedPoint> planned(const TuneChoice& choice, Tried& tried) const {
    const WhatIfBase base = base_of(own_point());
    auto changed = change(base.source, own_->scenario, values_of(choice));
    if (!changed) {
      tried.outcome = does_not_fit(choice) ? TuneOutcome::does_not_fit : TuneOutcome::refused;
      return nullptr;
    }
    const Scenario& scenario = changed->scenario;
    const bool is_ignored = scenario.ignored.size() > own_->scenario.ignored.size();
    if (is_ignored || scenario.samples_per_step() != found_.samples_per_step) return nullptr;
    tried.set = changed->set;
    auto point = std::make_shared<PlannedPoint>(
        PlannedPoint{std::move(changed->document), std::move(changed->scenario), {}, own_->pointers});
    point->scenario.explain = false;
    return point;
  }

  /// Why it was refused: only reading it once more says so.
  [[nodiscard]] bool does_not_fit(const TuneChoice& choice) const {
    Document document = own_->document;
    try {
      for (const SetValue& value : values_of(choice)) document.set(value.pointer, value.json);
      read_scenario(document.root(), catalogue_);
    } catch (const DoesNotFit&) {
      return true;
    } catch (const InputError&) {
    }
    return false;
  }

  /// Those that have not been tried, as far as the budget goes, a few at a time: what they were seen to take counts,
  /// and the next ones are expected to be off their estimates by as much.
  void run(std::span<const TuneChoice> choices) {
    constexpr std::size_t few = 8;
    for (; !choices.empty(); choices = choices.subspan(std::min(few, choices.size()))) {
      run_at_once(choices.first(std::min(few, choices.size())));
      spent_ = taken() - begun_;
      if (estimated_ > Seconds(0)) of_the_estimate_ = std::max(least_of_the_estimate, spent_ / estimated_);
    }
  }

  /// By this process and those that ran its points.
  static Seconds taken() {
    Seconds sum;
    for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
      rusage used{};
      getrusage(who, &used);
      for (const timeval& time : {used.ru_utime, used.ru_stime})
        sum += Seconds(static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec));
    }
    return sum;
  }

  void run_at_once(std::span<const TuneChoice> choices) {
    RunPlan plan = plan_;
    plan.points.clear();
    Choices running;
    for (const TuneChoice& choice : choices) {
      if (found_.tried.contains(choice)) continue;
      Tried tried;
      const auto point = planned(choice, tried);
      if (point != nullptr && !may_cost(point->scenario)) continue;
      found_.tried[choice] = std::move(tried);
      if (point == nullptr) continue;
      RunPlan::Point planned_point = plan_.points.front();
      planned_point.as_read = point;
      plan.points.push_back(std::move(planned_point));
      running.push_back(choice);
    }
    const auto points =
        study(plan, [](const RunPlan::Point& point) { return train(point.as_read->scenario, nullptr); });
    for (std::size_t place = 0; place < running.size(); ++place) {
      Tried& tried = found_.tried.at(running[place]);
      const auto point = points.find(place);
      tried.outcome = point == points.end() ? TuneOutcome::failed : TuneOutcome::ran;
      if (point == points.end()) continue;
      tried.point = point->second;
      if (tried.point.memory.total() > found_.most_memory) tried.outcome = TuneOutcome::does_not_fit;
    }
  }

  [[nodiscard]] static Seconds time_of(const Scenario& scenario) { return times_the_estimate * cost_of(scenario).time; }

  bool may_cost(const Scenario& scenario) {
    const Seconds time = time_of(scenario);
    const Seconds all = spent_ + time * of_the_estimate_;
    const bool fits = all <= share_of_the_search * budget_.time && cost_of(scenario).memory <= budget_.memory;
    if (fits) spent_ = all;
    if (fits) estimated_ += time;
    found_.is_cut_short = found_.is_cut_short || !fits;
    return fits;
  }

  template <class Execute>
  std::map<std::size_t, TrainingPoint> study(const RunPlan& plan, const Execute& execute) const {
    if (plan.points.empty()) return {};
    StudyOptions options;
    options.processes = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    options.point_timeout = longest_;
    options.execute = [&](const RunPlan::Point& point, Timeline* /*timeline*/) {
      try {
        return execute(point);
      } catch (const InputError& error) {  // which would end the study: a value that only running it refuses
        throw std::runtime_error(error.what());
      }
    };
    return run_study(plan, {plan.scenario, "", plan.points.size(), false, {}, "", {}}, options).points;
  }

  // ---- searching

  [[nodiscard]] bool keeps_numbers(std::size_t setting) const { return !found_.settings[setting].changes_numbers; }

  [[nodiscard]] TuneChoice with(TuneChoice choice, std::size_t setting, int value) const {
    choice[setting] = value;
    return choice;
  }

  [[nodiscard]] int values_in(std::size_t setting) const {
    return static_cast<int>(found_.settings[setting].values.size());
  }

  void try_single() {
    Choices single;
    for (std::size_t setting = 0; setting < found_.settings.size(); ++setting) {
      for (int value = 0; value < values_in(setting); ++value)
        single.push_back(with(found_.as_it_stands(), setting, value));
    }
    run(single);
  }

  /// Of what decides the memory, two others than in `from`.
  void try_pairs(const TuneChoice& from) {
    Choices pairs;
    const auto decides = [&](std::size_t setting) {
      return keeps_numbers(setting) && found_.settings[setting].decides_memory;
    };
    for (std::size_t one = 0; one < found_.settings.size(); ++one) {
      for (std::size_t other = one + 1; decides(one) && other < found_.settings.size(); ++other) {
        for (int value = 0; decides(other) && value < values_in(one); ++value) {
          for (int second = 0; second < values_in(other); ++second)
            pairs.push_back(with(with(from, one, value), other, second));
        }
      }
    }
    run(pairs);
  }

  /// The step where it fits into that memory; infinity where it does not, or was not run.
  [[nodiscard]] double step(const TuneChoice& choice, double memory) const {
    const auto tried = found_.tried.find(choice);
    const bool ran = tried != found_.tried.end() && tried->second.outcome == TuneOutcome::ran;
    if (!ran || tried->second.point.memory.total().si() > memory) return std::numeric_limits<double>::infinity();
    return tried->second.point.iteration.si();
  }

  [[nodiscard]] bool is_numeric(const TuneChoice& choice) const {
    for (std::size_t setting = 0; setting < choice.size(); ++setting) {
      if (choice[setting] >= 0 && !keeps_numbers(setting)) return true;
    }
    return false;
  }

  /// The best that it comes to.
  TuneChoice descend(double memory) {
    TuneChoice best = found_.as_it_stands();
    for (const auto& [choice, tried] : found_.tried) {
      if (!is_numeric(choice) && step(choice, memory) < step(best, memory) * (1 - worth_a_change)) best = choice;
    }
    if (step(best, memory) == std::numeric_limits<double>::infinity()) return best;
    for (int round = 0; round < rounds; ++round) {
      const TuneChoice before = best;
      for (std::size_t setting = 0; setting < best.size(); ++setting) {
        if (keeps_numbers(setting)) take_best_value(best, setting, memory);
      }
      if (best == before) break;
    }
    return best;
  }

  /// As the scenario has it, unless another value is worth the change.
  void take_best_value(TuneChoice& best, std::size_t setting, double memory) {
    Choices choices;
    for (int value = -1; value < values_in(setting); ++value) choices.push_back(with(best, setting, value));
    run(choices);
    TuneChoice taken = best;
    for (const TuneChoice& choice : choices) {
      if (step(choice, memory) < step(taken, memory) * (1 - worth_a_change)) taken = choice;
    }
    const bool is_as_good = step(choices.front(), memory) <= step(taken, memory) * (1 + worth_a_change / 2);
    best = is_as_good ? choices.front() : taken;
  }

  // ---- what is printed

  struct Ranked {
    TuneChoice choice;
    double step = 0;
    double memory = 0;
  };

  /// So much less memory is worth a row.
  [[nodiscard]] double clearly_below(double memory) const {
    return std::min(memory * (1 - less_memory), memory - less_of_device * own_point().memory.device.si());
  }

  /// What is faster than the scenario, or as fast in less memory; in order of steps.
  [[nodiscard]] std::vector<Ranked> what_gains() const {
    std::vector<Ranked> all;
    const double own = own_point().iteration.si();
    const double own_memory = own_point().memory.total().si();
    for (const auto& [choice, tried] : found_.tried) {
      if (tried.outcome != TuneOutcome::ran || is_numeric(choice) || changes_of(choice) == 0) continue;
      const Ranked ranked{choice, tried.point.iteration.si(), tried.point.memory.total().si()};
      const double least_gain = ranked.memory > own_memory * (1 + less_memory) ? worth_memory : worth_a_change;
      const bool is_faster = ranked.step < own * (1 - least_gain);
      const bool is_smaller = ranked.step <= own && ranked.memory < clearly_below(own_memory);
      if (is_faster || is_smaller) all.push_back(ranked);
    }
    std::ranges::stable_sort(all, {}, &Ranked::step);
    return all;
  }

  /// Of those that are as fast as the first, in the least memory, the one with the fewest changes; then those that take
  /// less memory than it does.
  [[nodiscard]] Choices best_choices() const {
    std::vector<Ranked> best;
    std::vector<Ranked> left = what_gains();
    while (!left.empty()) {
      const double as_fast = left.front().step * (1 + worth_a_change);
      double least = left.front().memory;
      for (const Ranked& one : left) {
        if (one.step <= as_fast) least = std::min(least, one.memory);
      }
      const Ranked* taken = nullptr;
      for (const Ranked& one : left) {
        if (one.step > as_fast || one.memory > least * (1 + less_memory / 2)) continue;
        if (taken == nullptr || changes_of(one.choice) < changes_of(taken->choice)) taken = &one;
      }
      best.push_back(*taken);
      const double memory = clearly_below(taken->memory);
      std::erase_if(left, [&](const Ranked& one) { return one.memory >= memory; });
    }
    while (best.size() > most_rows) best.erase(least_missed(best));
    Choices choices;
    for (const Ranked& one : best) choices.push_back(one.choice);
    return choices;
  }

  /// Between the first and the last, where the one before is nearly as small and the one behind nearly as fast.
  static std::vector<Ranked>::iterator least_missed(std::vector<Ranked>& best) {
    const auto area = [](const Ranked& before, const Ranked& one, const Ranked& behind) {
      return (before.memory - one.memory) * (behind.step - one.step);
    };
    auto least = best.begin() + 1;
    for (auto one = least; one + 1 != best.end(); ++one) {
      if (area(*(one - 1), *one, *(one + 1)) < area(*(least - 1), *least, *(least + 1))) least = one;
    }
    return least;
  }

  /// Values that change the numbers, each by itself and beside the fastest; those that gain on either.
  Choices number_choices(const TuneChoice& fastest) {
    constexpr double anything = std::numeric_limits<double>::infinity();
    Choices beside;
    for (std::size_t setting = 0; setting < found_.settings.size(); ++setting) {
      if (keeps_numbers(setting)) continue;
      for (int value = 0; value < values_in(setting); ++value) beside.push_back(with(fastest, setting, value));
    }
    run(beside);
    Choices gaining;
    for (const auto& [choice, tried] : found_.tried) {
      if (!is_numeric(choice)) continue;
      TuneChoice without = choice;
      for (std::size_t setting = 0; setting < choice.size(); ++setting) {
        if (!keeps_numbers(setting)) without[setting] = -1;
      }
      const double than = std::min(step(without, anything), own_point().iteration.si());
      if (step(choice, anything) < than * (1 - worth_a_change)) gaining.push_back(choice);
    }
    std::ranges::stable_sort(gaining, {}, [&](const TuneChoice& choice) { return step(choice, anything); });
    if (gaining.size() > most_rows) gaining.resize(most_rows);
    return gaining;
  }

  /// How many points may still be run with all that belongs to a row.
  [[nodiscard]] std::size_t rows_left(double runs) const {
    const double rows = (budget_.time - spent_) / (runs * of_the_estimate_ * time_of(own_->scenario));
    return static_cast<std::size_t>(std::clamp(rows, 0.0, 1e6));
  }

  /// The scenario and at least the fastest; then as many as the budget has left.
  static void shorten(Choices& rows, std::size_t least, std::size_t left) {
    rows.resize(std::min(rows.size(), std::max(least, left)));
  }

  /// With bands, as `farandole run` has them, and the scenario's own first.
  void judge(Choices best, Choices numbers) {
    const std::size_t wanted = 1 + best.size() + numbers.size();
    const std::size_t left = std::max<std::size_t>(rows_left(runs_of_a_row), 1) - 1;
    shorten(best, 1, left);
    shorten(numbers, 0, left - std::min(left, best.size()));
    RunPlan plan = plan_;
    plan.points.clear();
    Choices all{found_.as_it_stands()};
    all.insert(all.end(), best.begin(), best.end());
    all.insert(all.end(), numbers.begin(), numbers.end());
    found_.is_cut_short = found_.is_cut_short || all.size() < wanted;
    const bool explains = all.size() <= rows_left(runs_of_a_row + runs_of_a_waterfall);
    for (const TuneChoice& choice : all) {
      Tried tried;
      const auto point = planned(choice, tried);
      RunPlan::Point planned_point = plan_.points.front();
      planned_point.as_read = point;
      plan.points.push_back(std::move(planned_point));
    }
    auto points = study(plan, [&](const RunPlan::Point& planned_point) {
      const PlannedPoint& read = *planned_point.as_read;
      TrainingPoint point = run_point(read, catalogue_, nullptr);
      if (explains) point.explanation = Explanation{waterfall_of(read.scenario, point.iteration), {}, {}};
      return point;
    });
    if (points.size() < all.size()) throw std::runtime_error("a point failed the second time it was run");
    found_.own = std::move(points.at(0));
    for (std::size_t place = 1; place < all.size(); ++place) {
      TuneRowFound row{all[place], found_.tried.at(all[place]), {}};
      row.tried.point = std::move(points.at(place));
      row.faster = difference(found_.own, row.tried.point);
      (place <= best.size() ? found_.best : found_.numbers).push_back(std::move(row));
    }
  }

  const Catalogue& catalogue_;
  Budget budget_;
  Seconds begun_ = taken();
  Seconds longest_;
  RunPlan plan_;  // of the scenario as it stands
  std::shared_ptr<PlannedPoint> own_;
  TuneFound found_;
  Seconds spent_;
  Seconds estimated_;           // of what was run
  double of_the_estimate_ = 1;  // what runs were seen to take
};

}  // namespace

TuneFound tune(const Document& document, const Catalogue& catalogue, const CostOptions& cost) {
  return TuneSearch(document, catalogue, cost).find();
}

}  // namespace farandole
