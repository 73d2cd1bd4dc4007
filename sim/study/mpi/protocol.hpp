// The texts of messages within an MPI team, and the times everyone keeps to.
#pragma once

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "study/forked_worker.hpp"

namespace farandole { inline namespace study {

inline constexpr std::chrono::microseconds glance{200};  // between two looks for messages
inline constexpr std::chrono::seconds heartbeat{1};      // how often everyone is heard of at least
inline constexpr std::chrono::seconds silence{30};       // after which a rank counts as dead
inline constexpr std::chrono::seconds joining{300};      // the same before it has read its files

inline std::string to_text(std::size_t task) {
  return {reinterpret_cast<const char*>(&task), sizeof task};
}

inline std::size_t task_of(const std::string& text) {
  std::size_t task = 0;
  if (text.size() < sizeof task) throw std::logic_error("a message without a task");
  std::memcpy(&task, text.data(), sizeof task);
  return task;
}

/// The task, a byte for the kind, the outcome's text.
inline std::string to_text(std::size_t task, const Outcome& outcome) {
  return to_text(task) + static_cast<char>(outcome.kind) + outcome.text;
}

inline std::pair<std::size_t, Outcome> outcome_of(const std::string& text) {
  const std::size_t task = task_of(text);
  if (text.size() == sizeof task) throw std::logic_error("a message without an outcome");
  return {task, {static_cast<Outcome::Kind>(text[sizeof task]), text.substr(sizeof task + 1)}};
}

}}  // namespace farandole::study
