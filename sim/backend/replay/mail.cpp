#include "backend/replay/mail.hpp"

#include <stdexcept>
#include <utility>

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

}}  // namespace farandole::backend
