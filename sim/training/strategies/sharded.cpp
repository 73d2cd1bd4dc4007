#include "training/strategies/sharded.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "training/passes.hpp"

namespace farandole { inline namespace training {
namespace {

constexpr int root = -1;
constexpr int reduced = 0;  // Note::what

/// "transformer.blocks.7" of "transformer.blocks.7.attn.Wqkv.weight"; empty where no part of the name is a number.
std::string unit_name(const std::string& variable) {
  std::size_t begin = 0;
  while (begin < variable.size()) {
    const std::size_t end = std::min(variable.find('.', begin), variable.size());
    const bool is_number = end > begin && std::all_of(variable.begin() + static_cast<std::ptrdiff_t>(begin),
                                                      variable.begin() + static_cast<std::ptrdiff_t>(end),
                                                      [](unsigned char c) { return std::isdigit(c) != 0; });
    if (is_number) return variable.substr(0, end);
    begin = end + 1;
  }
  return {};
}

/// Behind those of its segment forward, and so before them backward.
void add_layer(ShardedUnits::Segment& segment, const LayerPass& layer) {
  for (const InnerExchange& exchange : layer.forward_exchanges) {
    segment.forward_exchanges.push_back({segment.forward + exchange.at, exchange.what});
  }
  std::vector<InnerExchange> backward = layer.backward_exchanges;
  for (const InnerExchange& exchange : segment.backward_exchanges) {
    backward.push_back({layer.backward + exchange.at, exchange.what});
  }
  segment.backward_exchanges = std::move(backward);
  segment.forward += layer.forward;
  segment.backward += layer.backward;
}

}  // namespace

ShardedUnits units_of(const Job& job, int blocks_per_unit) {
  constexpr Bytes stored = 4_B;  // Job::variables
  ShardedUnits units;
  std::map<std::string, int> numbers;
  std::vector<std::optional<int>> of_layer(job.layers.size());
  for (const Variable& variable : job.variables) {
    if (variable.gradient < 0 && !variable.frozen) continue;
    const std::string name = unit_name(variable.name);
    int unit = root;
    if (!name.empty() && blocks_per_unit > 0) {
      unit = numbers.try_emplace(name, static_cast<int>(numbers.size())).first->second / blocks_per_unit;
      units.parameters.resize(std::max(units.parameters.size(), static_cast<std::size_t>(unit) + 1));
      units.trained.resize(units.parameters.size());
    }
    const double elements = variable.size / stored;
    (unit == root ? units.root : units.parameters[static_cast<std::size_t>(unit)]) += elements;
    of_layer[static_cast<std::size_t>(variable.layer)] = unit;
    if (variable.frozen) continue;
    (unit == root ? units.root_trained : units.trained[static_cast<std::size_t>(unit)]) += elements;
  }
  int unit = root;
  for (std::size_t layer = 0; layer < job.layers.size(); ++layer) {
    unit = of_layer[layer].value_or(unit);
    if (units.segments.empty() || units.segments.back().unit != unit) units.segments.push_back({unit, {}, {}});
    add_layer(units.segments.back(), job.layers[layer]);
    if (layer == job.first_backward) units.first_backward = units.segments.size() - 1;
  }
  std::map<int, ShardedUnits::Segment*> last;
  std::set<int> begun;  // backward
  for (std::size_t i = 0; i < units.segments.size(); ++i) {
    ShardedUnits::Segment& segment = units.segments[i];
    segment.is_first = i >= units.first_backward && begun.insert(segment.unit).second;
    last[segment.unit] = &segment;
  }
  for (const auto& [number, segment] : last) segment->is_last = true;
  return units;
}

Sharded::Sharded(const StrategySite& site, ShardedPlan plan)
    : site_(site),
      plan_(plan),
      units_(units_of(site.job, plan.blocks_per_unit)),
      shards_(plan.shards == 0 ? site.data_parallel() : std::min(plan.shards, site.data_parallel())),
      replicas_(site.data_parallel() / shards_) {}

double Sharded::parameters_of(int unit) const {
  return unit == root ? units_.root : units_.parameters[static_cast<std::size_t>(unit)];
}

double Sharded::trained_of(int unit) const {
  return unit == root ? units_.root_trained : units_.trained[static_cast<std::size_t>(unit)];
}

/// Every rank keeps an equal part, the last one filled up. As the rate limiter of FSDP has it: _FreeEventQueue.
void Sharded::gather(Engine& engine, int unit, bool is_backward) {
  const double parameters = plan_.gathers_once ? trained_of(unit) : parameters_of(unit);  // frozen ones stay whole
  if (gathered(unit) || shards_ == 1 || parameters == 0) return;
  std::vector<TaskId> after = pass_before_;
  if (plan_.in_flight > 0 && freeing_.size() >= plan_.in_flight) {
    after.push_back(freeing_.front());
    freeing_.pop_front();
  }
  const bool is_near = is_backward && plan_.kept > 0;
  const int ranks = is_near ? plan_.kept : shards_;
  const Bytes size = std::ceil(parameters / ranks) * ranks * plan_.parameter_element;
  const Collective collective{Operation::allgather, size, {}, {}, false, is_near ? Group::kept : Group::shards};
  gathered(unit) = engine.add({collective, after.empty() ? start_ : RankTimes(), std::move(after), communicating});
}

/// For the segment before that one.
void Sharded::prefetch(Engine& engine, std::size_t segment) {
  if (segment > units_.first_backward && units_.segments[segment - 1].unit != root)
    gather(engine, units_.segments[segment - 1].unit, true);
}

TaskId Sharded::compute(Engine& engine, Compute work, int unit, std::vector<TaskId> after) {
  if (gathered(unit)) after.push_back(*gathered(unit));
  computed_.push_back(
      engine.add({std::move(work), computed_.empty() ? start_ : RankTimes(), std::move(after), computing}));
  return computed_.back();
}

void Sharded::begin(Engine& engine, const RankTimes& moments) {
  start_ = moments;
  synchronised_ = moments;
  gathered_.assign(units_.parameters.size() + 1, {});
  computed_.clear();
  freeing_.clear();
  pass_before_.clear();
  reduction_.reset();
  open_ = 0;
  waiting_ = 0;
  after_all_.clear();
  if (plan_.gathers_once) gather_everything(engine);
  if (site_.job.stage) return go_through_stage(engine);
  for (int pass = 1; pass <= plan_.passes; ++pass) {
    forward(engine, pass_before_);
    pass_before_.clear();
    const bool reduces = plan_.reduces_every_pass || pass == plan_.passes;
    const bool frees = !plan_.gathers_once && (plan_.reshards || reduces);
    backward(engine, reduces, frees, {});
    end_pass(reduces, frees);
  }
}

void Sharded::go_through_stage(Engine& engine) {
  add_in_stage_order(engine, site_.job, start_,
                     {[&](const std::vector<TaskId>& after) {
                        forward(engine, after);
                        return computed_.back();
                      },
                      [&](bool is_last, const std::vector<TaskId>& after) {
                        backward(engine, is_last, is_last && !plan_.gathers_once, after);
                        return computed_.back();
                      }});
}

void Sharded::end_pass(bool reduces, bool frees) {
  if (frees) std::ranges::fill(gathered_, Gathered{});
  if (!computed_.empty()) pass_before_ = {computed_.back()};
  if (reduces && reduction_) pass_before_.push_back(*reduction_);
}

/// After the update, which ended the iteration before.
void Sharded::gather_everything(Engine& engine) {
  if (shards_ == 1) return;
  gather(engine, root);
  for (int unit = 0; unit < static_cast<int>(units_.parameters.size()); ++unit) gather(engine, unit);
  if (plan_.overlaps_gathering) return;
  const Gathered last = *std::ranges::max_element(gathered_, {}, [](const Gathered& by) { return by.value_or(-1); });
  if (last) std::ranges::fill(gathered_, last);
}

void Sharded::forward(Engine& engine, const std::vector<TaskId>& after) {
  const bool reshards = plan_.reshards && !plan_.gathers_once;
  gather(engine, root);
  bool is_first = true;
  for (const ShardedUnits::Segment& segment : units_.segments) {
    if (segment.unit != root) gather(engine, segment.unit);
    const TaskId task = compute(engine, {segment.forward, {}, segment.forward_exchanges}, segment.unit,
                                is_first ? after : std::vector<TaskId>{});
    is_first = false;
    if (!reshards || segment.unit == root || !segment.is_last) continue;
    gathered(segment.unit) = {};
    freeing_.push_back(task);
  }
}

void Sharded::backward(Engine& engine, bool reduces, bool frees, const std::vector<TaskId>& after) {
  TaskId last = -1;
  for (std::size_t i = units_.segments.size(); i-- > units_.first_backward;) {
    const ShardedUnits::Segment& segment = units_.segments[i];
    if (segment.unit != root) gather(engine, segment.unit, true);
    if (plan_.backward_prefetch == BackwardPrefetch::before) prefetch(engine, i);
    const bool is_first = i + 1 == units_.segments.size();
    last = compute(engine, {segment.backward, {}, segment.backward_exchanges}, segment.unit,
                   is_first ? after : std::vector<TaskId>{});
    if (segment.unit == root || !segment.is_first) continue;
    if (frees) freeing_.push_back(last);
    if (plan_.backward_prefetch == BackwardPrefetch::after) prefetch(engine, i);
    if (reduces) reduce_unit(engine, segment.unit, last);
  }
  if (!reduces) return;
  reduce_unit(engine, root, last);
  if (waiting_ > 0) after_all_.emplace_back(std::exchange(waiting_, 0), last);
  for (const auto& [parameters, when] : std::exchange(after_all_, {})) reduce(engine, parameters, last);
}

void Sharded::reduce_unit(Engine& engine, int unit, TaskId after) {
  waiting_ += trained_of(unit);
  if (waiting_ * plan_.gradient_element < plan_.bucket) return;
  const double parameters = std::exchange(waiting_, 0);
  if (parameters == 0) return;
  plan_.overlaps_reducing ? reduce(engine, parameters, after)
                          : static_cast<void>(after_all_.emplace_back(parameters, after));
}

void Sharded::reduce(Engine& engine, double parameters, TaskId after) {
  const auto add = [&](Operation operation, double elements, Group group, Stream stream, TaskId before, bool is_last) {
    const Collective collective{operation, Bytes(std::ceil(elements) * plan_.gradient_element.si()), {}, {}, false,
                                group};
    if (is_last) ++open_;
    const TaskId task = engine.add({collective, {}, {before}, stream, is_last ? Note{reduced} : Note{}});
    if (is_last) reduction_ = task;
    return task;
  };
  const bool has_replicas = replicas_ > 1;
  const double shard = std::ceil(parameters / shards_);
  if (shards_ > 1) {
    const Operation operation = plan_.shards_gradients ? Operation::reduce_scatter : Operation::allreduce;
    after = add(operation, shard * shards_, Group::shards, communicating, after, !has_replicas);
  }
  if (!has_replicas) return;
  add(Operation::allreduce, shard, Group::replicas, plan_.shares_links ? communicating : communicating_among_replicas,
      after, true);
}

void Sharded::on(Engine& /*engine*/, const Happening& happening) {
  if (happening.note.what != reduced) return;
  --open_;
  synchronised_ = synchronised_.max(happening.times->end);
}

std::optional<RankTimes> Sharded::synchronised() const {
  if (open_ > 0) return std::nullopt;
  return synchronised_;
}

std::function<std::unique_ptr<Strategy>(const StrategySite&)> maker_of(const ShardedPlan& plan) {
  return [plan](const StrategySite& site) {
    ShardedPlan own = plan;
    own.shares_links = plan.shards * site.replica > site.ranks_per_node;
    return std::make_unique<Sharded>(site, own);
  };
}

}}  // namespace farandole::training
