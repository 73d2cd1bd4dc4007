#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <string>

#include <sys/prctl.h>

#include "backend/mpi/session.hpp"

namespace farandole { inline namespace backend {
namespace {

/// Those of this process that somebody waits on with epoll.
std::vector<pollfd> epoll_instances() {
  std::vector<pollfd> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    const auto target = std::filesystem::read_symlink(entry.path(), none);
    if (target == "anon_inode:[eventpoll]") found.push_back({std::stoi(entry.path().filename()), POLLIN, 0});
  }
  return found;
}

timespec span_of(Seconds time) {
  const double whole = std::floor(time.si());
  return {static_cast<time_t>(whole), static_cast<long>((time.si() - whole) * 1e9)};
}

}  // namespace

IdlePoll::IdlePoll(Seconds longest) : longest_(longest) {
  if (!is_allowed()) return;
  prctl(PR_SET_TIMERSLACK, 1UL);  // wake on the nanosecond asked for, not up to 50 us later
  events_ = epoll_instances();
}

void IdlePoll::take(Seconds at_most) {
  const Seconds length = std::min(at_most, longest_);
  if (!(length > Seconds(0))) return;
  const timespec span = span_of(length);
  ppoll(events_.data(), events_.size(), &span, nullptr);
}

}}  // namespace farandole::backend
