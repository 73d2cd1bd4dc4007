#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "calibration/linear_algebra.hpp"
#include "calibration/posterior.hpp"
#include "config/section.hpp"
#include "scenario/anchor.hpp"
#include "scenario/train.hpp"
#include "units/mapped.hpp"

namespace farandole { inline namespace calibration {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// What of a topology's file a run depends on and a trial may change.
constexpr std::array parts{"/node", "/network", "/condition", "/transport", "/variability"};

bool is_alike(const std::optional<Value>& one, const std::optional<Value>& other) {
  if (one.has_value() != other.has_value()) return false;
  return !one || to_json(one->node()) == to_json(other->node());
}

/// The scenario on what the document says where it differs from its file. What the scenario changes itself stays so.
Document placed(const Document& topology, const Document& file, Document scenario) {
  Node::Object overrides;
  for (const std::string part : parts) {
    const auto tried = topology.find(part);
    if (tried && !is_alike(tried, file.find(part))) overrides.push_back({part, tried->node()});
  }
  if (overrides.empty()) return scenario;
  if (const auto own = scenario.find("/platform/override")) {
    for (const auto& [pointer, value] : own->members()) {
      std::erase_if(overrides, [&, name = pointer](const Node::Member& member) { return member.key == name; });
      overrides.push_back({pointer, value.node()});
    }
  }
  scenario.set("/platform/override", Node{std::move(overrides), 0, std::make_shared<const std::string>("a trial")});
  return scenario;
}

Seconds predicted_step(const Document& scenario, const Catalogue& catalogue) {
  const Document document = anchored(scenario, catalogue);
  return train(read_scenario(document.root(), catalogue), nullptr).iteration;
}

Document with_own(Document scenario, std::span<const Unknown> unknowns, const std::vector<bool>& takes,
                  const VectorXd& logs) {
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    if (!takes[j]) continue;
    scenario.set(unknowns[j].parameter.pointer,
                 fmt::format("\"{}\"", typed(unknowns[j].parameter, std::exp(logs[static_cast<Index>(j)]))));
  }
  return scenario;
}

/// Which of the unknowns the scenario has a place for: those of other strategies it refuses.
std::vector<bool> taken_by(const Document& scenario, std::span<const Unknown> unknowns, const Catalogue& catalogue) {
  std::vector<bool> takes;
  for (const Unknown& unknown : unknowns) {
    takes.push_back(false);
    if (!is_of_scenario(unknown.parameter)) continue;
    try {
      Document changed = scenario;
      if (unknown.parameter.pointer.starts_with("/effects") && !changed.find("/effects")) changed.set("/effects", "{}");
      changed.set(unknown.parameter.pointer, fmt::format("\"{}\"", typed(unknown.parameter, std::exp(unknown.centre))));
      read_scenario(anchored(changed, catalogue).root(), catalogue);
      takes.back() = true;
    } catch (const InputError&) {
    }
  }
  return takes;
}

void refuse_untaken(std::span<const Unknown> unknowns, const std::vector<std::vector<bool>>& takes) {
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    if (!is_of_scenario(unknowns[j].parameter)) continue;
    if (std::ranges::any_of(takes, [j](const std::vector<bool>& row) { return row[j]; })) continue;
    throw InputError({unknowns[j].source, 0, unknowns[j].parameter.pointer},
                     "a prior of a number that some run's scenario has", "one that no scenario takes");
  }
}

}  // namespace

Seconds step_on(const Document& topology, const Document& scenario, const Catalogue& catalogue) {
  return predicted_step(placed(topology, Document::read(topology.source()), scenario), catalogue);
}

Misfit misfit_of(const Document& topology, std::span<const Unknown> unknowns, const std::vector<TrainingRow>& rows,
                 const Catalogue& catalogue) {
  const auto takes = mapped(rows, [&](const TrainingRow& row) { return taken_by(row.scenario, unknowns, catalogue); });
  refuse_untaken(unknowns, takes);
  const auto log_error = [=, file = Document::read(topology.source()), &catalogue](std::size_t i,
                                                                                   const VectorXd& logs) {
    const Document trial = with(topology, unknowns, logs);
    const Document scenario = placed(trial, file, with_own(rows[i].scenario, unknowns, takes[i], logs));
    return std::log(predicted_step(scenario, catalogue) / rows[i].step);
  };
  // What cannot be run on the priors' medians is an error of the input; further off it is only a bad trial.
  const VectorXd centres = vector_of(unknowns, &Unknown::centre);
  for (std::size_t i = 0; i < rows.size(); ++i) log_error(i, centres);
  return [=, places = std::views::iota(std::size_t{0}, rows.size())](const VectorXd& logs) {
    return vector_of_possible(places, [&](std::size_t i) { return log_error(i, logs); });
  };
}

}}  // namespace farandole::calibration
