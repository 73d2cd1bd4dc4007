#include "backend/replay/server_replay.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "backend/data_place.hpp"

namespace farandole { inline namespace backend {
namespace {

std::array<float, 4> written(const Letter& letter) {
  const Note& note = letter.note;
  if (note.who >= most_exact_float || note.index >= most_exact_float)
    throw std::runtime_error("a letter about too many things");
  return {static_cast<float>(letter.kind), static_cast<float>(note.what), static_cast<float>(note.who),
          static_cast<float>(note.index)};
}

Letter letter_of(const std::array<float, 4>& head) {
  return {static_cast<Letter::Kind>(head[0]),
          {static_cast<int>(head[1]), static_cast<int>(head[2]), static_cast<int>(head[3])}};
}

}  // namespace

Mail::Mail(Session& session, std::function<std::size_t(const Letter&)> floats_of)
    : rank_(session.endpoint().rank()), others_(session.endpoint().ranks() - 1), floats_of_(std::move(floats_of)) {
  for (int from = 0; from <= others_; ++from) {
    for (const Sender as : {Sender::worker, Sender::server}) {
      auto way = session.open_channel();
      if (from == rank_) {
        out_[static_cast<std::size_t>(as)].way = std::move(way);
      } else {
        open(in_.emplace_back(Inbox{std::move(way), from, as}));
      }
    }
  }
}

void Mail::open(Inbox& inbox) {
  inbox.has_head = false;
  inbox.way->receive(inbox.head, inbox.from);
}

void Mail::send(Sender as, int to, const Letter& letter, std::span<const float> data) {
  Outbox& out = out_[static_cast<std::size_t>(as)];
  if (out.way->is_done()) out.heads.clear();
  out.way->send(out.heads.emplace_back(written(letter)), to);
  if (!data.empty()) out.way->send(data, to);
}

void Mail::say_farewell(Sender as) {
  for (int to = 0; to <= others_; ++to) {
    if (to != rank_) send(as, to, {Letter::Kind::last_message, {}});
  }
}

bool Mail::look(const Reader& read) {
  bool has_read = false;
  for (Inbox& inbox : in_) {
    while (look(inbox, read)) has_read = true;
  }
  return has_read;
}

bool Mail::look(Inbox& inbox, const Reader& reader) {
  if (inbox.is_closed || !inbox.way->is_done()) return false;
  if (!inbox.has_head) {
    inbox.letter = letter_of(inbox.head);
    inbox.has_head = true;
    if (inbox.letter.kind == Letter::Kind::last_message) {
      inbox.is_closed = true;
      ++farewells_[static_cast<std::size_t>(inbox.as)];
      return true;
    }
    inbox.data.resize(floats_of_(inbox.letter));
    if (!inbox.data.empty()) {
      inbox.way->receive(inbox.data, inbox.from);
      return true;
    }
  }
  reader(inbox.from, inbox.letter, inbox.data);
  open(inbox);
  return true;
}

bool Mail::is_sent() {
  bool are_gone = true;
  for (Outbox& out : out_) are_gone = out.way->is_done() && are_gone;
  return are_gone;
}

namespace {

/// What is not kept in floats counts as so many floats; nothing travels of what is shorter than one.
std::size_t floats(Bytes size) {
  constexpr Bytes one = 4_B;
  return static_cast<std::size_t>(size / one);
}

/// Numbers of variables begin where no worker's do.
constexpr int variables_of = 1000;

std::vector<WorkerGroup> one_by_one(int workers) {
  WorkerGroup worker;
  worker.bus = BytesPerSecond::infinity();
  return std::vector<WorkerGroup>(static_cast<std::size_t>(workers), worker);
}

std::vector<int> counted(int workers) {
  std::vector<int> ranks;
  for (int rank = 0; rank < workers; ++rank) ranks.push_back(rank);
  return ranks;
}

}  // namespace

ServerReplay::ServerReplay(ServerReplaySite site, Session& session, int iterations, bool checks_data)
    : site_(std::move(site)),
      session_(session),
      rank_(session.endpoint().rank()),
      checks_(checks_data),
      mail_(session, [this](const Letter& letter) { return floats_of(letter); }),
      strategy_(
          site_.job, site_.plan, site_.shards, one_by_one(site_.workers),
          [this](int iteration) -> const RankTimes& { return factors_ = site_.variability.factors(iteration); },
          iterations, rank_ == 0 ? site_.timeline : nullptr, site_.slots) {
  if (site_.input != nullptr) strategy_.feed_from(site_.input, counted(site_.workers));
  std::size_t longest = 0;
  for (const Shard& shard : site_.shards) longest = std::max(longest, floats(shard.push));
  if (rank_ < site_.workers) gradients_.resize(longest);
  for (std::size_t i = 0; i < gradients_.size(); ++i) gradients_[i] = test_number(rank_, static_cast<std::int64_t>(i));
  keep_shards();
  session.endpoint().allgather_scalar(0);
  clock_.start();
}

void ServerReplay::keep_shards() {
  for (std::size_t number = 0; number < site_.shards.size(); ++number) {
    const Shard& shard = site_.shards[number];
    if (process_of({0, 0, static_cast<int>(number)}) != rank_) continue;
    Kept& kept = kept_[static_cast<int>(number)];
    kept.sum.resize(floats(shard.push));
    kept.variable.resize(std::max(floats(shard.kept), floats(shard.pull)));
    for (std::size_t i = 0; i < kept.variable.size(); ++i) {
      kept.variable[i] = test_number(variables_of + static_cast<int>(number), static_cast<std::int64_t>(i));
    }
    if (shard.gradient >= 0) {
      kept.slots.assign(static_cast<std::size_t>(site_.slots), std::vector<float>(kept.variable.size()));
    }
  }
}

std::size_t ServerReplay::floats_of(const Letter& letter) const {
  if (letter.kind == Letter::Kind::push) return floats(shard_of(letter.note).push);
  return letter.kind == Letter::Kind::pull ? floats(shard_of(letter.note).pull) : 0;
}

std::span<const float> ServerReplay::variables(const Note& note) const {
  return std::span(kept_.at(note.index).variable).first(floats(shard_of(note).pull));
}

/// A push is this worker's. What comes from a server is asked for by its worker, or the server sends it unasked.
void ServerReplay::send(Connection connection, Bytes /*size*/, Note note) {
  const int server = process_of(note);
  if (connection.to_server) {
    if (server == rank_) return schedule(now(), note, true);
    return mail_.send(Sender::worker, server, {Letter::Kind::push, note},
                      std::span(gradients_).first(floats(shard_of(note).push)));
  }
  if (server == rank_ && connection.worker == rank_) return schedule(now(), note);
  if (server == rank_) {
    return mail_.send(Sender::server, connection.worker, {Letter::Kind::pull, note}, variables(note));
  }
  mail_.send(Sender::worker, server, {Letter::Kind::request, note});
}

void ServerReplay::tell(int worker, Note note) {
  if (worker != everyone) return mail_.send(Sender::server, worker, {Letter::Kind::note, note});
  for (int process = 0; process < session_.endpoint().ranks(); ++process) {
    if (process != rank_) mail_.send(Sender::worker, process, {Letter::Kind::note, note});
  }
}

void ServerReplay::take_push(const Note& note, std::span<const float> gradients) {
  Kept& kept = kept_.at(note.index);
  if (checks_) expect(gradients, [&](std::int64_t i) { return test_number(note.who, i); });
  session_.endpoint().place().add(gradients, kept.sum);
  kept.pushed_by.push_back(note.who);
  strategy_.on(*this, {note});
}

/// Every slot takes the sum in, and the variable takes what the slots hold times a rate of nothing, so that it stays
/// known: as many numbers are read and written as any rate would take.
void ServerReplay::process(int /*server*/, int /*worker*/, Bytes /*traffic*/, Note note) {
  constexpr float decay = 0.5F;
  const volatile float nothing = 0;
  const float rate = nothing;
  Kept& kept = kept_.at(note.index);
  if (checks_) check_sum(kept, note.index);
  const std::size_t size = std::min(kept.sum.size(), kept.variable.size());
  for (std::vector<float>& slot : kept.slots) {
    for (std::size_t i = 0; i < size; ++i) slot[i] = decay * slot[i] + kept.sum[i];
  }
  const std::vector<float>& last = kept.slots.empty() ? kept.sum : kept.slots.back();
  for (std::size_t i = 0; i < size; ++i) kept.variable[i] -= rate * last[i];
  std::ranges::fill(kept.sum, 0.0F);
  kept.pushed_by.clear();
  schedule(now(), note);
}

void ServerReplay::expect(std::span<const float> data, const std::function<float(std::int64_t)>& number) {
  for (std::size_t i = 0; i < data.size(); ++i) wrong_ += data[i] == number(static_cast<std::int64_t>(i)) ? 0 : 1;
}

/// With a barrier every worker has pushed it once.
void ServerReplay::check_sum(const Kept& kept, int shard) {
  std::vector<int> expected = counted(site_.workers);
  if (site_.plan.mode != ServerMode::synchronous) expected = kept.pushed_by;
  wrong_ += std::ranges::is_permutation(expected, kept.pushed_by) ? 0 : 1;
  expect(kept.sum, [&](std::int64_t i) {
    float sum = 0;
    for (const int worker : expected) sum += test_number(worker, i);
    return sum;
  });
  expect(kept.variable, [&](std::int64_t i) { return test_number(variables_of + shard, i); });
}

void ServerReplay::read(int from, const Letter& letter, std::span<const float> data) {
  switch (letter.kind) {
    case Letter::Kind::push:
      return take_push(letter.note, data);
    case Letter::Kind::request:
      return mail_.send(Sender::server, from, {Letter::Kind::pull, letter.note}, variables(letter.note));
    case Letter::Kind::pull:
      if (checks_) expect(data, [&](std::int64_t i) { return test_number(variables_of + letter.note.index, i); });
      return strategy_.on(*this, {letter.note});
    case Letter::Kind::note:
      return strategy_.on(*this, {letter.note});
    case Letter::Kind::last_message:
      return;
  }
}

bool ServerReplay::deliver_due() {
  if (events_.empty() || events_.top().when > now()) return false;
  const Event event = events_.top();
  events_.pop();
  if (event.pushes) {
    take_push(event.note, std::span(gradients_).first(floats(shard_of(event.note).push)));
  } else {
    strategy_.on(*this, {event.note});
  }
  return true;
}

/// Does what can be done now, or waits for what is next.
bool ServerReplay::step() {
  const bool has_read =
      mail_.look([this](int from, const Letter& letter, std::span<const float> data) { read(from, letter, data); });
  if (deliver_due() || has_read) return true;
  const Seconds next = events_.empty() ? Seconds::infinity() : events_.top().when;
  session_.endpoint().idle(next - now());
  return false;
}

std::vector<WorkerIteration> ServerReplay::run() {
  strategy_.begin(*this, {});
  const bool is_worker = rank_ < site_.workers;
  while (!(strategy_.is_over() && (!is_worker || strategy_.is_idle(rank_)))) step();
  mail_.say_farewell(Sender::worker);
  while (!mail_.has_heard_all(Sender::worker)) step();  // somebody may need its servers
  mail_.say_farewell(Sender::server);
  while (!mail_.has_heard_all(Sender::server) || !mail_.is_sent()) step();
  return strategy_.finished();
}

}}  // namespace farandole::backend
