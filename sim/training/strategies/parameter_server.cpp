#include "training/strategies/parameter_server.hpp"

#include <algorithm>
#include <utility>

namespace farandole { inline namespace training {

ParameterServer::ParameterServer(const Job& job, const ServerPlan& plan, std::vector<Shard> shards,
                                 std::vector<WorkerGroup> workers, FactorsOf factors, int iterations,
                                 Timeline* timeline, int slots)
    : job_(job),
      plan_(plan),
      shards_(std::move(shards)),
      factors_(std::move(factors)),
      iterations_(iterations),
      slots_(slots),
      timeline_(timeline),
      groups_(std::move(workers)),
      workers_(groups_.size()),
      idle_(groups_.size(), true),
      shards_of_layer_(job.layers.size()),
      pushed_by_(shards_.size(), 0),
      work_(shards_.size() * (plan.mode == ServerMode::synchronous ? 1 : groups_.size())),
      asked_(shards_.size()) {
  for (const WorkerGroup& group : groups_) pushes_ += group.count;
  for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
    shards_of_layer_[static_cast<std::size_t>(shards_[shard].layer)].push_back(static_cast<int>(shard));
  }
}

void ParameterServer::begin(Engine& engine, const RankTimes& /*moments*/) {
  over_[0] = static_cast<int>(groups_.size());
  start_all_allowed(engine);
}

bool ParameterServer::may_start(const Worker& worker) const {
  const int next = worker.iteration + 1;
  const int slowest = over_.begin()->first;
  if (slowest >= iterations_) return false;
  switch (plan_.mode) {
    case ServerMode::synchronous:
      return next <= slowest;
    case ServerMode::stale_synchronous:
      return next - slowest <= plan_.bound;
    case ServerMode::asynchronous:
      return true;
  }
  return false;
}

void ParameterServer::start_if_allowed(Engine& engine, int worker) {
  const auto w = static_cast<std::size_t>(worker);
  if (engine.has(worker) && idle_[w] && may_start(workers_[w])) start(engine, worker);
}

void ParameterServer::start_all_allowed(Engine& engine) {
  for (int worker = 0; worker < static_cast<int>(groups_.size()); ++worker) start_if_allowed(engine, worker);
}

void ParameterServer::start(Engine& engine, int index) {
  const auto w = static_cast<std::size_t>(index);
  Worker& worker = workers_[w];
  idle_[w] = false;
  ++worker.iteration;
  worker.nominal_factor = factors_(worker.iteration)[index];
  worker.factor = worker.nominal_factor;
  if (job_.backward_end > Seconds(0)) worker.factor += groups_[w].serving / job_.backward_end;
  worker.allowed = engine.now();
  const Seconds begin = input_ == nullptr ? engine.now() : input_->start(rank_of_group_[w], engine.now());
  if (begin > engine.now()) return engine.call_at(begin, {fed, index, 0});
  pull(engine, index);
}

void ParameterServer::pull(Engine& engine, int index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  worker.start = engine.now();
  worker.last = -1;
  worker.updates_at_start = updates_;
  worker.layer = 0;
  worker.missing.assign(job_.layers.size(), 0);
  worker.outstanding = static_cast<int>(shards_.size()) + 1;  // and the backward pass itself
  for (std::size_t s = 0; s < shards_.size() && !plan_.replicated; ++s) {
    const Shard& shard = shards_[s];
    if (shard.pull == Bytes(0)) continue;
    ++worker.missing[waiting_layer(shard)];
    send_back(engine, index, static_cast<int>(s));
  }
  forward(engine, index);
}

/// The first whose forward pass waits for the shard.
std::size_t ParameterServer::waiting_layer(const Shard& shard) const {
  return plan_.overlap ? static_cast<std::size_t>(shard.layer) : 0;
}

/// Goes as far as variables are there, in one go.
void ParameterServer::forward(Engine& engine, int index) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  Seconds time;
  while (worker.layer < job_.layers.size() && worker.missing[worker.layer] == 0) {
    time += job_.layers[worker.layer++].forward * worker.factor;
  }
  worker.waits_for_pull = false;
  if (time > Seconds(0)) {
    engine.compute(index, time, {forwarded, index, 0});
  } else if (worker.layer < job_.layers.size()) {
    worker.waits_for_pull = true;
  } else {
    backward(engine, index);
  }
}

void ParameterServer::backward(Engine& engine, int index) {
  const Worker& worker = workers_[static_cast<std::size_t>(index)];
  Seconds passes;
  for (const LayerPass& layer : job_.layers) passes += layer.forward + layer.backward;
  // Earlier passes, whose gradients only add up.
  Seconds work = std::max(Seconds(0), job_.backward_end - passes) * worker.factor;
  std::vector<std::pair<Seconds, int>> pushes;
  for (std::size_t layer = job_.layers.size(); layer-- > 0;) {
    work += job_.layers[layer].backward * worker.factor;
    if (!shards_of_layer_[layer].empty()) pushes.emplace_back(work, static_cast<int>(layer));
  }
  for (const auto& [own, layer] : pushes) {
    engine.compute(index, plan_.overlap ? own : work, {computed_layer, index, layer});
  }
  engine.compute(index, work, {computed, index, 0});
}

void ParameterServer::push_layer(Engine& engine, int index, int layer) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  const BytesPerSecond bus = groups_[static_cast<std::size_t>(index)].bus;
  const auto& shards = shards_of_layer_[static_cast<std::size_t>(layer)];
  for (auto shard = shards.rbegin(); shard != shards.rend(); ++shard) {
    const Shard& pushed_shard = shards_[static_cast<std::size_t>(*shard)];
    const Seconds on_its_way = pushed_shard.encode + pushed_shard.push / bus;
    if (on_its_way == Seconds(0)) {
      push(engine, index, *shard);
      continue;
    }
    worker.free_out = std::max(worker.free_out, engine.now()) + on_its_way;
    engine.call_at(worker.free_out, {encoded, index, *shard});
  }
}

void ParameterServer::push(Engine& engine, int index, int shard) {
  const Shard& sent = shards_[static_cast<std::size_t>(shard)];
  ++messages_;
  if (index == 0) asked_[static_cast<std::size_t>(shard)] = engine.now();
  engine.send({index, sent.server, true}, sent.push, {pushed, index, shard});
}

void ParameterServer::on(Engine& engine, const Happening& happening) {
  const Note note = happening.note;
  switch (static_cast<What>(note.what)) {
    case fed:
      return pull(engine, note.who);
    case forwarded:
      return forward(engine, note.who);
    case computed_layer:
      return push_layer(engine, note.who, note.index);
    case computed:
      workers_[static_cast<std::size_t>(note.who)].computed_at = engine.now();
      return one_done(engine, note.who, -1);
    case encoded:
      return push(engine, note.who, note.index);
    case pushed:
      record("PUSH", note.who, note.index, engine.now());
      return arrived(engine, note.who, note.index);
    case updated:
      return updated_on_server(engine, note.who, note.index);
    case at_node:
      record("PULL", note.who, note.index, engine.now());
      return bring_in(engine, note.who, note.index);
    case pulled:
      return pulled_here(engine, note.who, note.index);
    case applied:
      return one_done(engine, note.who, note.index);
    case ended:
      ++workers_[static_cast<std::size_t>(note.who)].iteration;
      return count_ended(engine, note.who);
  }
}

ParameterServer::Work& ParameterServer::work_on(int worker, int shard) {
  const std::size_t of_whom = applies_together() ? 0 : static_cast<std::size_t>(worker) * shards_.size();
  return work_[of_whom + static_cast<std::size_t>(shard)];
}

void ParameterServer::arrived(Engine& engine, int index, int shard) {
  const auto s = static_cast<std::size_t>(shard);
  if (applies_together()) {
    if (++pushed_by_[s] < static_cast<int>(groups_.size())) return;
    pushed_by_[s] = 0;
  }
  work_on(index, shard).start = engine.now();
  const Bytes traffic = server_traffic(shards_[s], applies_together() ? pushes_ : 1, slots_);
  engine.process(shards_[s].server, applies_together() ? Engine::everyone : index, traffic, {updated, index, shard});
}

void ParameterServer::updated_on_server(Engine& engine, int index, int shard) {
  Work& work = work_on(index, shard);
  work.end = engine.now();
  if (timeline_ != nullptr && (index == 0 || applies_together())) {
    timeline_->span(shards_[static_cast<std::size_t>(shard)].variable, "UPDATE", work.start, work.end);
  }
  if (!applies_together()) return applied_for(engine, index, shard);
  for (int worker = 0; worker < static_cast<int>(groups_.size()); ++worker) {
    plan_.replicated ? send_back(engine, worker, shard) : applied_for(engine, worker, shard);
  }
}

void ParameterServer::applied_for(Engine& engine, int worker, int shard) {
  engine.has(worker) ? one_done(engine, worker, shard) : engine.tell(worker, {applied, worker, shard});
}

void ParameterServer::send_back(Engine& engine, int index, int shard) {
  const Shard& sent = shards_[static_cast<std::size_t>(shard)];
  ++messages_;
  if (index == 0) asked_[static_cast<std::size_t>(shard)] = engine.now();
  engine.send({index, sent.server, false}, sent.pull, {at_node, index, shard});
}

/// From the node's host to its ranks.
void ParameterServer::bring_in(Engine& engine, int index, int shard) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  const Seconds time = shards_[static_cast<std::size_t>(shard)].pull / groups_[static_cast<std::size_t>(index)].bus;
  if (time == Seconds(0)) return pulled_here(engine, index, shard);
  worker.free_in = std::max(worker.free_in, engine.now()) + time;
  engine.call_at(worker.free_in, {pulled, index, shard});
}

void ParameterServer::pulled_here(Engine& engine, int index, int shard) {
  if (plan_.replicated) return one_done(engine, index, shard);
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  --worker.missing[waiting_layer(shards_[static_cast<std::size_t>(shard)])];
  if (worker.waits_for_pull && worker.missing[worker.layer] == 0) forward(engine, index);
}

void ParameterServer::one_done(Engine& engine, int index, int shard) {
  Worker& worker = workers_[static_cast<std::size_t>(index)];
  worker.last = shard;
  if (--worker.outstanding == 0) finish(engine, index);
}

/// The server's work on the shard that ended the iteration, as far as the worker had nothing else to do; and what it
/// lent a server of its processor's time.
Seconds ParameterServer::waited_for_servers(int index) {
  const Worker& worker = workers_[static_cast<std::size_t>(index)];
  const Seconds lent = job_.backward_end * (worker.factor - worker.nominal_factor);
  if (worker.last < 0) return lent;
  const Work& work = work_on(index, worker.last);
  return lent + std::max(Seconds(0), work.end - std::max(work.start, worker.computed_at));
}

void ParameterServer::finish(Engine& engine, int index) {
  const auto w = static_cast<std::size_t>(index);
  Worker& worker = workers_[w];
  const double staleness = applies_together() ? 0 : updates_ - worker.updates_at_start;
  finished_.push_back({index, worker.free, engine.now(), worker.allowed - worker.free, worker.start - worker.allowed,
                       job_.backward_end * worker.nominal_factor, waited_for_servers(index), staleness});
  if (timeline_ != nullptr && index == 0) {
    timeline_->span("compute", "ITERATION", worker.start, engine.now());
  }
  worker.free = engine.now();
  idle_[w] = true;
  engine.tell(Engine::everyone, {ended, index, 0});
  count_ended(engine, index);
}

/// Here or elsewhere.
void ParameterServer::count_ended(Engine& engine, int index) {
  const Worker& worker = workers_[static_cast<std::size_t>(index)];
  updates_ += groups_[static_cast<std::size_t>(index)].count;
  const int slowest = over_.begin()->first;
  const auto place = over_.find(worker.iteration);
  if (--place->second == 0) over_.erase(place);
  ++over_[worker.iteration + 1];
  if (over_.begin()->first > slowest) return start_all_allowed(engine);
  start_if_allowed(engine, index);
}

void ParameterServer::record(const char* what, int worker, int shard, Seconds now) {
  if (timeline_ == nullptr || worker != 0) return;
  const auto index = static_cast<std::size_t>(shard);
  timeline_->span(shards_[index].variable, what, asked_[index], now);
}

}}  // namespace farandole::training
