// The catalogue of backends: what carries collectives out on real hardware, one row each, usable or not:
// each is a module (config/modules.hpp).
//
// A backend opens a session, which every rank of a launched program has one of: an endpoint for the interpreter of
// schedules, the library's own collectives, and a description of machine and library that goes into the result. `bench`
// asks for a row by name; `doctor` lists them. Nothing of a library is initialised before a session is opened.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/endpoint.hpp"
#include "collective/schedule.hpp"
#include "timeline/result.hpp"

namespace farandole { inline namespace backend {

/// Carries a collective out once, in the endpoint's place: `out` holds the same as `in` when it begins.
using CollectiveRun = std::function<void(std::span<const float> in, std::span<float> out)>;

class Session {
 public:
  virtual ~Session() = default;

  virtual Endpoint& endpoint() = 0;
  /// Another channel to the same ranks, whose messages never mix with those of another. Every rank opens as many, in
  /// the same order. The session must outlive it.
  virtual std::unique_ptr<Endpoint> open_channel() = 0;
  [[nodiscard]] virtual int ranks_per_node() const = 0;  // on this rank's node
  [[nodiscard]] virtual int nodes() const = 0;
  /// The node of every rank, numbered from 0.
  [[nodiscard]] virtual std::vector<int> node_of_ranks() const = 0;
  /// Machine, library, binding. Every rank calls it; rank 0's answer is complete.
  virtual Settings description() = 0;
  /// The library's own collective on data laid out so; `size` in elements. Empty where the library has none.
  virtual CollectiveRun library(const Schedule& layout, std::int64_t size) = 0;
  /// Whether its messages can go on while the host does other things, as a replay of training needs.
  [[nodiscard]] virtual bool can_replay() const { return true; }
  /// Ends the ranks that wait for this one, after a failure.
  virtual void abandon() = 0;
};

struct SessionOptions {
  /// How long a rank that waits sleeps at most before it looks again; 0: it never sleeps. Empty: it sleeps where ranks
  /// have to share processors.
  std::optional<Seconds> idle_poll{};
  /// Where ranks meet that have no MPI to do so; empty: by MPI.
  std::filesystem::path meeting_file{};
};

struct BackendRow {
  std::string name;
  std::string version;                 // of its library; empty: it is not usable here
  std::string remedy;                  // then: why, and what to do
  std::string (*devices)() = nullptr;  // that it has here, or why none; null: it needs none
  std::unique_ptr<Session> (*open)(const SessionOptions& options) = nullptr;
};

std::span<const BackendRow> backends();

/// Null where there is none of that name.
const BackendRow* find_backend(const std::string& name);

}}  // namespace farandole::backend
