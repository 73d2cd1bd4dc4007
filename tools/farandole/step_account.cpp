#include "step_account.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace farandole {
namespace {

struct Boundary {
  double at = 0;
  bool begins = false;
  int work = -1;  // -1: of a window
};

/// Before a collective, and a collective before a copy engine.
int rank_of(const DeviceWork& work) {
  if (work.is_copy_engine) return 2;
  return work.work.kind == KernelClass::communication ? 1 : 0;
}

class StepSweep {
 public:
  StepSweep(const DeviceTrace& trace, TraceDetail detail) : trace_(trace), detail_(detail) {}

  StepAccount account(const std::vector<StepWindow>& windows, int steps) {
    account_.steps = steps;
    for (const Boundary& next : boundaries(windows)) {
      if (windows_open_ > 0 && next.at > now_) take(next.at - now_);
      now_ = next.at;
      pass(next);
    }
    scale(1.0 / steps);
    return std::move(account_);
  }

 private:
  [[nodiscard]] bool counts(const DeviceWork& work) const {
    return work.end > work.begin &&
           (detail_ != TraceDetail::communication || work.work.kind == KernelClass::communication);
  }

  [[nodiscard]] std::vector<Boundary> boundaries(const std::vector<StepWindow>& windows) const {
    std::vector<Boundary> all;
    for (std::size_t i = 0; i < trace_.work.size(); ++i) {
      const DeviceWork& work = trace_.work[i];
      if (!counts(work)) continue;
      all.push_back({work.begin, true, static_cast<int>(i)});
      all.push_back({work.end, false, static_cast<int>(i)});
    }
    for (const StepWindow& window : windows) {
      all.push_back({window.begin, true});
      all.push_back({window.end, false});
    }
    std::ranges::stable_sort(all, {}, &Boundary::at);
    return all;
  }

  void pass(const Boundary& next) {
    if (next.work < 0) {
      windows_open_ += next.begins ? 1 : -1;
      return;
    }
    const DeviceWork& work = trace_.work[static_cast<std::size_t>(next.work)];
    const std::pair<int, int> place{rank_of(work), next.work};
    const bool communicates = work.work.kind == KernelClass::communication;
    if (next.begins) {
      under_way_.insert(place);
    } else {
      under_way_.erase(place);
    }
    if (communicates) collectives_[work.work.collective] += next.begins ? 1 : -1;
  }

  void take(double seconds) {
    account_.seconds += seconds;
    account_.parts[current_part()] += seconds;
    if (communicates_alone()) account_.exposed += seconds;
    for (const auto& [collective, count] : collectives_) {
      if (count > 0) account_.collectives[collective] += seconds;
    }
    for (const auto& [rank, index] : under_way_) {
      const DeviceWork& work = trace_.work[static_cast<std::size_t>(index)];
      if (work.work.kind == KernelClass::other) account_.unnamed[work.name] += seconds;
    }
  }

  [[nodiscard]] bool communicates_alone() const {
    if (under_way_.empty()) return false;
    const auto index = static_cast<std::size_t>(under_way_.begin()->second);
    return trace_.work[index].work.kind == KernelClass::communication;
  }

  [[nodiscard]] std::string current_part() const {
    const bool communicates_only = detail_ == TraceDetail::communication;
    if (under_way_.empty()) return communicates_only ? untold_part : idle_part;
    const NamedWork& work = trace_.work[static_cast<std::size_t>(under_way_.begin()->second)].work;
    if (work.kind == KernelClass::communication) return (communicates_only ? "" : exposed_word) + work.collective;
    const bool is_told =
        detail_ == TraceDetail::kernels || work.kind == KernelClass::optimizer || work.kind == KernelClass::copy;
    return std::string(words_of(is_told ? work.kind : KernelClass::computation));
  }

  void scale(double factor) {
    account_.seconds *= factor;
    account_.exposed *= factor;
    for (auto* map : {&account_.parts, &account_.collectives, &account_.unnamed}) {
      for (auto& [name, seconds] : *map) seconds *= factor;
    }
  }

  const DeviceTrace& trace_;
  TraceDetail detail_;
  StepAccount account_;
  double now_ = 0;
  int windows_open_ = 0;
  std::set<std::pair<int, int>> under_way_;  // the first is what the moment counts for
  std::map<std::string, int> collectives_;
};

}  // namespace

double StepAccount::part(const std::string& name) const {
  const auto found = parts.find(name);
  return found == parts.end() ? 0 : found->second;
}

double StepAccount::idle() const {
  return part(idle_part) + part(untold_part);
}

StepAccount account_of(const DeviceTrace& trace, TraceDetail detail, const std::vector<StepWindow>& windows,
                       int steps) {
  return StepSweep(trace, detail).account(windows, steps);
}

}  // namespace farandole
